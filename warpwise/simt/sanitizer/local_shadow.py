"""The shadow of local memory: the parts of each thread's array that were written."""

from __future__ import annotations

import math

import numpy as np

from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import Memory
from warpwise.simt.machine.observer import Request
from warpwise.simt.types import Lanes, Value, as_index


class LocalShadow:
    """The shadow of one local array of all threads of a batch, of lane group ``group``.

    ``unit``: bytes of a cell; ``complete``: everything was written."""

    def __init__(self, array: Memory, group: LaneGroup):
        self.unit, self.lanes, self.complete = array.cell, group.rows * group.threads, False
        cells = array.memory_bytes // self.unit
        self.written = np.zeros((cells, group.rows, group.threads), bool)
        self.array = array
        self.stored: dict[int, Mask] = {}  #: the lanes of the last store to an element of all lanes

    def wrote(self, request: Request) -> None:
        """Note a store."""
        if self.complete or self._same_lanes(request):
            return
        if type(request.offset) is int and request.array is self.array:
            self.stored[request.offset] = request.mask
        mask, parts = request.mask, self._cells(request)
        written = self.written.reshape(-1)
        for cells in parts:
            if mask.lanes is None and mask.group.whole and isinstance(cells, int):
                self.written[cells] = True
                continue
            places = self._places(cells, mask)
            written[places if mask.lanes is None else places[mask.grid()]] = True

    def filled(self, mask: Mask) -> None:
        """Note that all elements of the active lanes are written."""
        lanes = mask.group.places[mask.grid()]
        self.written.reshape(len(self.written), -1)[:, lanes] = True

    def unwritten(self, request: Request) -> Lanes | None:
        """Return the active lanes that would read unwritten memory, ``(rows, threads)``."""
        if self.complete or self._same_lanes(request):
            return None
        mask, parts = request.mask, self._cells(request)
        written = self.written.reshape(-1)
        there = [written.take(as_index(self._places(cells, mask))) for cells in parts]
        missing: Lanes = ~np.logical_and.reduce(there) & mask.grid()
        if missing.any():
            return missing
        self.complete = bool(self.written.all())
        return None

    def _same_lanes(self, request: Request) -> bool:
        """Return True if the same lanes stored to this element last, which is one for all lanes."""
        if type(request.offset) is not int or request.array is not self.array:
            return False
        return self.stored.get(request.offset) is request.mask

    def _cells(self, request: Request) -> list[Value]:
        """Return the cells of the elements that are accessed, each lane-shaped."""
        array = request.array
        if array.cell % self.unit:
            self._split(array.cell)
        at = array.place(request.offset, request.mask)
        if array.step != self.unit:
            at = at * array.step // self.unit
        return [at + part for part in range(max(array.dtype.itemsize // self.unit, 1))]

    def _places(self, cells: Value, mask: Mask) -> Lanes:
        places: Lanes = cells * self.lanes + mask.group.places
        return places

    def _split(self, part: int) -> None:
        """Go on with cells of which ``part`` bytes are a whole number."""
        part = math.gcd(part, self.unit)
        self.written, self.unit = np.repeat(self.written, self.unit // part, axis=0), part
