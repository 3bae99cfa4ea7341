"""Accesses to shared memory that are aligned by chance.

A shared array begins at a multiple of its element's alignment, which is all that Numba asks of the
compiler, or of the ``alignment`` that it is made with. Where it begins beyond that is up to the
linker, so what needs more has to say so, though here every array begins at a multiple of 16."""

from __future__ import annotations

from warpwise.errors import MisalignedError
from warpwise.messages import Constant, Name, Words, message
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import Memory
from warpwise.simt.machine.site import Site


def need_alignment(root: Memory, needed: int, use: str, mask: Mask, site: Site) -> None:
    """Raise MisalignedError unless an array is sure to begin at a multiple of so many bytes.

    ``use``: what needs that, in words."""
    if root.sure_multiple % needed == 0:
        return
    what = message(
        "{array} is sure to begin at a multiple of {has} bytes alone, and {use}, which takes one "
        "of {needed}: here it fits by chance, and a GPU stops where it does not",
        array=Name(root.name),
        has=Constant(root.sure_multiple),
        use=Words(use),
        needed=Constant(needed),
    )
    remedy = message(
        "alignment={needed} in the cuda.shared.array(...) that makes {array}",
        needed=Constant(needed),
        array=Name(root.name),
    )
    raise MisalignedError(what, site.where_first(mask), remedy)
