"""The packages of the kernel, and the lock file that names them to Pyodide.

JupyterLite's kernel asks for seven packages when it starts, by name, and installs each that was not
loaded with Pyodide: from Pyodide's lock, from its own wheel, or from PyPI, as ``comm``. If one
cannot be had it waits for ever and says nothing. So the lock of the labs holds all of them, with
NumPy and warpwise, and the page has them loaded with Pyodide, at once. The interpreter itself and
these two lie in the runtime that the pages' editors use."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from warpwise.book.parts import RUNTIME

#: What the kernel asks for, by these names, and what a lab imports.
PACKAGES = (
    *("micropip", "piplite", "ssl", "sqlite3", "ipykernel", "comm", "pyodide_kernel"),
    *("jedi", "ipython", "numpy", "warpwise"),
)
#: Wheels inside that of JupyterLite's kernel. Others in there are for ipywidgets.
BROUGHT = ("ipykernel", "piplite", "pyodide_kernel")
NEEDS = {"piplite": ["micropip"], "pyodide-kernel": ["comm", "ipykernel", "ipython"]}
LOCK = "pyodide-lock.json"

Entry = dict[str, Any]


def lay(out: Path, site: Path, own: Path, wheels: Iterable[Path]) -> None:
    """Write the wheels and the lock file: ``own`` is the wheel of JupyterLite's kernel."""
    out.mkdir(parents=True)
    for wheel in wheels:
        shutil.copyfile(wheel, out / wheel.name)
    unpack(own, out)
    runtime = site / RUNTIME
    lock = json.loads((runtime / "pyodide" / LOCK).read_text("utf-8"))
    pure = [*out.glob("*-none-any.whl"), *runtime.glob("warpwise-*.whl")]
    known = {made["name"]: made for made in map(entry, pure)} | lock["packages"]
    lock["packages"] = {
        name: found | {"file_name": place(found["file_name"], runtime, out)}
        for name, found in closure(known, PACKAGES).items()
    }
    (out / LOCK).write_text(json.dumps(lock, indent=1), "utf-8")


def unpack(own: Path, out: Path) -> None:
    """Write the wheels that the kernel brings inside its own."""
    with ZipFile(own) as wheel:
        for name in wheel.namelist():
            file = name.rpartition("/")[2]
            if file.endswith(".whl") and file.partition("-")[0] in BROUGHT:
                (out / file).write_bytes(wheel.read(name))


def closure(packages: Mapping[str, Entry], names: Iterable[str]) -> dict[str, Entry]:
    """Return the named entries of a lock, and all that they depend on."""
    found: dict[str, Entry] = {}
    left = list(names)
    while left:
        name = canonical(
            left.pop()
        )  # the lock has prompt-toolkit, and ipython needs prompt_toolkit
        if name not in found:
            found[name] = packages[name]
            left += packages[name]["depends"]
    return dict(sorted(found.items()))


def canonical(name: str) -> str:
    """Return a package's name as locks have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entry(wheel: Path) -> Entry:
    """Return a lock's entry for a wheel of pure Python, from its content and its file name."""
    module, version, *_ = wheel.name.split("-")
    return {
        "name": canonical(module),
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": [module],
        "depends": NEEDS.get(canonical(module), []),
        "unvendored_tests": False,
    }


def place(name: str, runtime: Path, out: Path) -> str:
    """Return a wheel's address from where Pyodide lies, which is where it looks for wheels.

    Raises FileNotFoundError for a wheel that lies in neither folder."""
    for folder in (out, runtime):
        if (folder / name).is_file():
            return Path(os.path.relpath(folder / name, runtime / "pyodide")).as_posix()
    raise FileNotFoundError(f"the kernel of the labs needs {name}")
