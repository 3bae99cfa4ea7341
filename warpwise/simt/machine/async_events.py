"""What observers see of ``warpwise.hopper``: one event for each word that a warp passes.

Times are *ticks*, not cycles: a word takes one, a copy or a product some more, and whoever waits
goes on when what it waits for has ended. They put warps in an order that a picture can show, and
say nothing about speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from warpwise.metrics import SECTOR_BYTES
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import GlobalArray, Memory
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes

Phase: TypeAlias = tuple[int, int]  #: the address of an mbarrier, and the number of its phase


@dataclass(frozen=True)
class Filled:
    """Memory that is written: ``size`` bytes of a shared array, or the lanes' own local array."""

    array: Memory
    first: int = 0
    size: int = 0


@dataclass(frozen=True, eq=False)
class Box:
    """Elements of global memory that a TMA copy moves: ``places``, from the start of ``array``.

    Only those inside the array: what a box has beyond it does not move. ``access``: "load" or
    "store"."""

    access: str
    array: GlobalArray
    places: Lanes

    @property
    def bytes(self) -> int:
        return self.places.size * self.array.step

    @property
    def sectors(self) -> int:
        """Sectors in which they lie, each once."""
        first = self.array.address + self.places * self.array.step
        ends = (first, first + self.array.step - 1)
        return int(np.unique(np.concatenate([end // SECTOR_BYTES for end in ends])).size)


@dataclass(frozen=True, eq=False)
class AsyncEvent:
    """A word of ``hopper`` that a warp has passed.

    ``warp``: its number in the block; ``begin``, ``end``: ticks; ``arrived``: the phase that it
    arrived for, ``waited``: that whose end it has seen, ``counted``: that which counts a copy's
    bytes; ``detail``: what a picture calls it; ``moved``: what a copy moves of global memory;
    ``flops``: of a product, and ``operands``: A and B, ``(16, K)`` and ``(N, K)``."""

    word: str
    warp: int
    mask: Mask
    site: Site
    begin: int
    end: int
    arrived: Phase | None = None
    waited: Phase | None = None
    filled: Filled | None = None
    detail: str = ""
    counted: Phase | None = None
    moved: Box | None = None
    flops: int = 0
    operands: tuple[Lanes, Lanes] | None = None

    @property
    def phase(self) -> Phase | None:
        """The phase that it has to do with, if there is one."""
        return self.waited or self.arrived or self.counted
