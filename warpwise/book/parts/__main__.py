"""Bring the lock file and ``parts.toml`` up to date with ``package.json``; the wheels stay.

Run it after a change of a version: ``python -m warpwise.book.parts``."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warpwise.book.parts.clients import npm
from warpwise.book.parts.listed import LIST, LOCK, PACKAGE, File, Library, Listed, Sum, listed
from warpwise.book.parts.packages import install
from warpwise.book.parts.store import scratch

HEAD = """\
# All that a page's editor is made of and that is fetched: versions, sizes in bytes, and SHA-256.
# `python -m warpwise.book.parts` writes the numbers of what npm's lock file names.

# Where wheels are that Pyodide's lock file names: in its releases, or bundled by a package on PyPI.
"""
LAID = """
# Files of npm packages that are laid as they are.
"""
BUNDLED = """
# What goes into the editor's script. The digest is that of `sha256sum` over all files of a package.
"""
#: Pyodide's files that a browser loads.
FILES = "pyodide.mjs pyodide.asm.js pyodide.asm.wasm python_stdlib.zip pyodide-lock.json".split()
LOCKED = "install --package-lock-only --omit-lockfile-registry-resolved".split()


def main() -> None:
    """Write both files."""
    with scratch() as folder:
        shutil.copy(PACKAGE, folder)
        shutil.copy(LOCK, folder)
        npm(folder, *LOCKED)
        shutil.copy(folder / LOCK.name, LOCK)
        modules = install(folder / "npm") / "node_modules"
        now = listed()
        LIST.write_text(as_text(Listed(now.releases, now.wheels, *found(modules))), "utf-8")


def found(modules: Path) -> tuple[tuple[File, ...], tuple[Library, ...]]:
    """Return what is installed: files to lay, and libraries."""
    versions = {
        name.removeprefix("node_modules/"): entry["version"]
        for name, entry in json.loads(LOCK.read_text("utf-8"))["packages"].items()
        if name and not name.startswith(("node_modules/@esbuild/", "node_modules/esbuild"))
    }
    files = [f"pyodide/{name}" for name in FILES]
    del versions["ws"]  # which Pyodide needs in Node alone
    return (
        tuple(
            File(one, Sum.of((modules / one).read_bytes()), versions["pyodide"]) for one in files
        ),
        tuple(
            Library(name, Sum.of_folder(modules / name), version)
            for name, version in versions.items()
            if name != "pyodide"
        ),
    )


def as_text(parts: Listed) -> str:
    """Return the list as TOML."""
    return (
        HEAD
        + _table("[pyodide]", asdict(parts.releases))
        + "".join(_table("\n[[wheel]]", asdict(one)) for one in parts.wheels)
        + LAID
        + "\n".join(_table("[[file]]", asdict(one)) for one in parts.files)
        + BUNDLED
        + "\n".join(_table("[[library]]", asdict(one)) for one in parts.libraries)
    )


def _table(head: str, values: dict[str, Any]) -> str:
    if "sum" in values:
        total = values.pop("sum")
        values |= {"bytes": total["size"], "sha256": total["sha256"]}
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in values.items() if value]
    return f"{head}\n{''.join(lines)}"


if __name__ == "__main__":
    main()
