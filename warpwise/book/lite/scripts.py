"""JupyterLab's own files, out of the wheels of jupyterlite-core and jupyterlite-pyodide-kernel."""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

EXTENSION = "@jupyterlite/pyodide-kernel-extension"
# What no browser asks for: source maps, other apps, icon fonts in formats before woff2, and
# settings one by one.
UNUSED = re.compile(
    r"\.(map|eot|ttf|svg|woff)$"
    r"|^build/(repl|tree|notebooks|consoles|edit|service-worker|schemas/@.*)/"
)
DATA = re.compile(r"^[^/]+\.data/data/share/jupyter/labextensions/(.*[^/])$")
# JupyterLab asks for settings of extensions and for languages. There are none but its own.
ASKED = {
    "build/schemas/all_federated.json": [],
    "api/translations/all.json": {"data": {"en": {"displayName": "English"}}, "message": ""},
    "api/translations/en.json": {"data": {}, "message": ""},
}


def lay(out: Path, core: Path, kernel: Path) -> str:
    """Write ``build``, ``extensions`` and ``api``; return the script of the kernel's extension.

    ``core`` and ``kernel`` are the two wheels."""
    asked = ((name, json.dumps(answer).encode()) for name, answer in ASKED.items())
    for name, content in (*app(core), *extension(kernel), *asked):
        if not UNUSED.search(name):
            write(out / name, content)
    package = json.loads((out / "extensions" / EXTENSION / "package.json").read_text("utf-8"))
    script: str = package["jupyterlab"]["_build"]["load"]
    return script


def app(core: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files below ``build`` of the app, which is an archive inside the wheel."""
    with ZipFile(core) as wheel:
        (packed,) = [name for name in wheel.namelist() if name.endswith(".tgz")]
        archive = wheel.read(packed)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            name = PurePosixPath(member.name).relative_to("package").as_posix()
            if name.startswith("build/") and (file := files.extractfile(member)) is not None:
                yield name, file.read()


def extension(kernel: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the kernel's extension, without the wheels beside them."""
    with ZipFile(kernel) as wheel:
        for name in wheel.namelist():
            found = DATA.match(name)
            if found and not name.endswith(".whl"):
                yield f"extensions/{found[1]}", wheel.read(name)


def write(path: Path, content: bytes) -> None:
    """Write a file, and the folders above it if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
