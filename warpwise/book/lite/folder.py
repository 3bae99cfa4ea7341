"""The folder of a built site in which the labs run."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlencode

from warpwise.book.lite import contents, kernel, page, scripts
from warpwise.book.parts.listed import listed
from warpwise.book.parts.packages import Say
from warpwise.book.parts.wheels import wheels

FOLDER = "lite"  #: where it lies in a site
CORE, KERNEL = "jupyterlite_core", "jupyterlite_pyodide_kernel"


def fetched(say: Say) -> list[Path]:
    """Return the wheels of JupyterLite and its kernel, from the cache of parts.

    Raises MissingPart if one cannot be had."""
    wanted = listed()
    return wheels(wanted.lite, wanted.releases, say)


def lay(site: Path, found: Sequence[Path], labs: Iterable[Path]) -> None:
    """Write the folder anew: from wheels, the runtime that lies in the site, and notebooks."""
    out = site / FOLDER
    shutil.rmtree(out, ignore_errors=True)
    by_name = {wheel.name.partition("-")[0]: wheel for wheel in found}
    core, own = by_name.pop(CORE), by_name.pop(KERNEL)
    script = scripts.lay(out, core, own)
    kernel.lay(out / "kernel", site, own, by_name.values())
    contents.lay(out, labs)
    page.lay(out / "lab", script)


def is_in(site: Path) -> bool:
    """Return whether labs run in a site."""
    return (site / FOLDER / "lab" / "index.html").is_file()


def address(notebook: str) -> str:
    """Return the address, below the site's root, that opens a lab by the name of its notebook."""
    return f"{FOLDER}/lab/index.html?{urlencode({'path': notebook})}"
