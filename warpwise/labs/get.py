"""Get the labs without a checkout: ``warpwise labs get`` and ``warpwise labs start``.

A published wheel holds the notebooks (``hatch_build.py``), a checkout has them in ``labs``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from warpwise.errors import LabError

PACKAGE = Path(__file__).resolve().parents[1]
SOURCES = (PACKAGE / "notebooks", PACKAGE.parent / "labs")
NEW = "warpwise-labs"  #: the folder that is made where none is named
NAME = "[0-9][0-9]_*.ipynb"
PLACES = (".", "labs", NEW)  #: where labs are looked for, from the folder that somebody is in


def notebooks(folder: Path = Path()) -> list[Path]:
    """Return the labs' notebooks in a folder, else in its ``labs``, else in ``warpwise-labs``."""
    found = (sorted((folder / place).glob(NAME)) for place in PLACES)
    return next(filter(None, found), [])


def here(folder: Path | None) -> Path:
    """Return the folder meant: the one named, else the one here that has labs, else a new one."""
    there = notebooks()
    return folder or (there[0].parent if there else Path(NEW))


def get(folder: Path) -> Iterator[str]:
    """Copy the labs into a folder, and yield what was done; a notebook that is there is kept.

    Raises LabError where the installed package has no labs, or the folder cannot be written."""
    if folder.resolve() in [source.resolve() for source in SOURCES]:
        return
    source = next((one for one in SOURCES if any(one.glob(NAME))), None)
    if source is None:
        raise LabError("this installation brings no labs: they are where it came from, in labs/")
    kept = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(source.glob(NAME)):
            kept += (folder / path.name).exists()
            if not (folder / path.name).exists():
                shutil.copyfile(path, folder / path.name)
                yield f"{folder / path.name}"
    except OSError as error:
        raise LabError(f"{folder} cannot be written: {error.strerror}") from error
    if kept:
        yield f"{kept} of the labs were in {folder} already, and are as they were"


def open_lab(folder: Path) -> int:
    """Open JupyterLab on a folder, until it ends, and return its exit status."""
    # Its absence is reported like any other's.
    import jupyterlab  # type: ignore[import-untyped]  # noqa: F401

    root = ["--allow-root"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    try:
        return subprocess.run([sys.executable, "-m", "jupyterlab", *root, str(folder)]).returncode
    except KeyboardInterrupt:  # JupyterLab has had it too, and has ended
        return 0
