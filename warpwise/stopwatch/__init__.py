"""A stopwatch without a GPU: how long a traced kernel takes on a device, modelled, with a range.

The compiler's machine code is read (``opcodes``, ``sass``, ``flow``), and the trace's counts say
how often a warp runs each part of it (``evidence``, ``trips``, ``walk``, ``program``). What an
access costs follows from the recorded addresses (``accesses``, ``l1``, ``traffic``, ``sharing``,
``tables``), what a device can do from published figures (``cards``). ``engine`` runs blocks on one
SM clock by clock, ``predict`` makes a launch of it, ``report`` an ``Estimate``. ``hints`` runs a
launch again with one thing changed, to say what would help (``case``, ``change_...``, ``walks``,
``dataflow``). ``line_by_line`` runs a kernel's lines as they stand, on a page without a compiler;
``by_kernel`` sums up many launches. The range comes from published times of kernels that were
replayed, and from times measured for the course (``families``, ``published``).

Left out: power and clocks that fall under load, other work on the GPU, the instruction cache, and
how much DRAM slows down under many streams."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpwise.stopwatch.cards import CARDS, Card, find
    from warpwise.stopwatch.clock import time
    from warpwise.stopwatch.estimate import Estimate, Share

__all__ = ["CARDS", "Card", "Estimate", "Share", "find", "time"]

_HOMES = dict.fromkeys(("CARDS", "Card", "find"), "cards") | {"time": "clock"}


def __getattr__(name: str) -> Any:
    """Import what is exported when it is asked for: a page has only some of these modules."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'estimate')}"), name)
