"""The mistakes in ``chapters/mistakes/``, and the errors that end a kernel."""

from __future__ import annotations

from support.paths import ROOT
from warpwise import errors

FOLDER = ROOT / "chapters/mistakes"
NAMES = sorted(
    path.relative_to(FOLDER).as_posix().removesuffix("_faulty.py")
    for path in FOLDER.glob("*/*_faulty.py")
)


def leaves(of: type) -> list[str]:
    """Return the names of the classes below one that have none below them."""
    below = of.__subclasses__()
    return [name for kind in below for name in leaves(kind)] if below else [of.__name__]


KERNEL_ERRORS = leaves(errors.KernelError)
