"""The npm packages in the cache, as the lock file names them, and the script bundled from them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from warpwise.book.parts.clients import node, npm
from warpwise.book.parts.listed import HERE, LOCK, PACKAGE, Listed, Part, Sum
from warpwise.book.parts.store import cache, keep, scratch

#: Our own script of the editor, which imports what it needs of CodeMirror.
ENTRY = HERE.parent / "editor/editor.js"
STAMP = "sum.json"  # beside node_modules: their sum when they were installed
LICENCE = (
    "/* With CodeMirror, (C) Marijn Haverbeke and others, MIT licence: https://codemirror.net */"
)
BUNDLE = "--bundle --minify --format=esm --target=es2022 --charset=utf8 --legal-comments=none"

Say = Callable[[str], object]


def installed() -> Path:
    """Return the folder in the cache for what this lock file names."""
    return cache() / f"npm-{Sum.of(LOCK.read_bytes()).sha256[:12]}"


def packages(wanted: Listed, say: Say) -> Path:
    """Return ``node_modules`` in the cache, whole; have npm install it if it is not there.

    Raises MissingPart if npm cannot, or what it brings is not what the list says."""
    home = installed()
    if not _is_whole(home):
        parts: list[Part] = [*wanted.files, *wanted.libraries]
        size = sum(part.sum.size for part in parts) / 1e6
        say(f"fetching Pyodide and CodeMirror from npm, {size:.1f} MB unpacked")
        with scratch() as folder:
            keep(install(folder / "npm", wanted), home, _is_whole)
    return home / "node_modules"


def install(folder: Path, wanted: Listed | None = None) -> Path:
    """Install what the lock file names in a new folder, with a stamp; check it against the list."""
    folder.mkdir()
    for path in (PACKAGE, LOCK):
        shutil.copy(path, folder)
    npm(folder, "ci")
    modules = folder / "node_modules"
    if wanted is not None:
        check(modules, wanted)
    (folder / STAMP).write_text(json.dumps(Sum.of_folder(modules).sha256), "utf-8")
    return folder


def check(modules: Path, wanted: Listed) -> None:
    """Raise MissingPart if a listed file or library differs from the list."""
    for file in wanted.files:
        file.sum.check(file.name, Sum.of((modules / file.name).read_bytes()))
    for library in wanted.libraries:
        library.sum.check(library.name, Sum.of_folder(modules / library.name))


def bundle(modules: Path, entry: Path = ENTRY) -> bytes:
    """Return a script and all that it imports as one ES module. Raises MissingPart on an error."""
    esbuild = modules / "esbuild/bin/esbuild"
    with scratch() as folder:
        made = folder / "bundle.js"
        options = [*BUNDLE.split(), "--log-level=error", f"--banner:js={LICENCE}"]
        node(esbuild, entry, *options, f"--outfile={made}", NODE_PATH=str(modules))
        return made.read_bytes()


def _is_whole(home: Path) -> bool:
    try:
        stamp = json.loads((home / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(stamp == Sum.of_folder(home / "node_modules").sha256)
