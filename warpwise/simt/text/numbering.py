"""Line numbers of device functions that come from another file or another notebook cell than their kernel.

Counters and events name a source line by its number, and every cell begins with line 1. So a function from elsewhere is numbered
beyond its caller's file: from 1001 on for the first other file, from 2001 for the second. Messages keep the numbers of its own file.
A function of the kernel's own file that is called by one from elsewhere begins its own count of further files.
"""

from __future__ import annotations

import ast
import copy
import linecache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwise.simt.text.source import Kernel

STEP = 1000


class Numbering:
    """Which lines the files have that a kernel's functions come from; one for a kernel and all that were moved for it."""

    def __init__(self, kernel: Kernel):
        self.bases = {kernel.origin: 0}
        self.next = _beyond(len(linecache.getlines(kernel.origin)))
        self.moved: dict[Kernel, Kernel] = {}

    def base(self, origin: str) -> int:
        """What is added to the line numbers of a file."""
        if origin not in self.bases:
            self.bases[origin] = self.next
            self.next += _beyond(len(linecache.getlines(origin)))
        return self.bases[origin]


def beside(caller: Kernel, called: Kernel) -> Kernel:
    """``called`` as ``caller`` counts it: itself, or with other line numbers if it comes from another file."""
    if called.origin is None or caller.origin is None or called.base:
        return called
    if called.origin == caller.origin and not caller.base:
        return called  # by far the most frequent, and no file need be looked at
    numbering = numbering_of(caller)
    if not (base := numbering.base(called.origin)):
        return called
    if called not in numbering.moved:
        numbering.moved[called] = _moved(called, base, numbering)
    return numbering.moved[called]


def numbering_of(kernel: Kernel) -> Numbering | None:
    """A kernel's numbering, made when it is first asked for; None for a kernel that was read from a text."""
    if kernel.numbering is None and kernel.origin is not None:
        kernel.numbering = Numbering(kernel)
    return kernel.numbering


def _moved(kernel: Kernel, base: int, numbering: Numbering) -> Kernel:
    tree = ast.increment_lineno(copy.deepcopy(kernel.tree), base)
    lines = {number + base: text for number, text in kernel.lines.items()}
    moved = type(kernel)(tree, kernel.lookup, kernel.file, lines, kernel.device, kernel.names)
    moved.function, moved.origin, moved.base, moved.numbering = kernel.function, kernel.origin, base, numbering
    return moved


def _beyond(lines: int) -> int:
    return STEP * (1 + lines // STEP)
