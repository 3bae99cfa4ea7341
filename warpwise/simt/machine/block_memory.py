"""Shared and local memory of a batch: one shared array per block, one local array per thread."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.cells import smallest_part
from warpwise.simt.machine.memory import Memory, c_strides, chosen
from warpwise.simt.sanitizer.shared_shadow import Shadow


class SharedArray(Memory):
    """Shared memory of every block of a batch: one row per block. A new batch starts unwritten."""

    space = "shared"

    def __init__(
        self, name: str, dtype: np.dtype, shape: tuple[int, ...], address: int, group: LaneGroup
    ):
        super().__init__(name, dtype, shape, c_strides(shape), address)
        self.values = np.zeros((group.rows, self.size), dtype)
        self.memory_bytes = self.size * dtype.itemsize
        self.rows = group.block_rows * self.size
        self.cell = smallest_part(dtype)
        self.shadow = Shadow(self.memory_bytes // self.cell, group)

    def split(self, part: int) -> None:
        """Keep the shadow by cells of which ``part`` bytes are a whole number."""
        part = math.gcd(part, self.cell)
        if part < self.cell:
            self.shadow.split(self.cell // part)
            self.cell = part

    @property
    def raw(self) -> np.ndarray:
        return self.values.reshape(-1).view(np.uint8)

    def _positions(self, at, group: LaneGroup):
        return at + self._rows(group) * self.dtype.itemsize

    def load(self, offset, mask: Mask):
        if mask.group.whole and isinstance(offset, int):
            return self.values[:, offset : offset + 1].copy()
        if mask.group.whole and offset.shape[0] == 1:
            return self.values.take(offset[0], axis=1)
        return self.values.reshape(-1).take(offset + self._rows(mask.group))

    def store(self, offset, value, mask: Mask) -> None:
        shape = np.broadcast_shapes(np.shape(offset), np.shape(value), (mask.group.rows, 1))
        places = np.broadcast_to(offset + self._rows(mask.group), shape)
        if mask.lanes is not None:
            places, value = chosen(places, mask, shape), chosen(value, mask, shape)
        elif isinstance(value, np.ndarray) and value.shape != shape:
            value = np.broadcast_to(value, shape)
        self.values.reshape(-1)[places] = value

    def _rows(self, group: LaneGroup) -> np.ndarray:
        """Return the place in ``values`` where each row's block begins, ``(rows, 1)``."""
        return self.rows if group.whole else group.block_rows * self.size


class LocalArray(Memory):
    """Local memory: one array per thread.

    Kept as planes ``(element, blocks, threads)``, so that a uniform index is one plane."""

    space = "local"

    def __init__(self, name: str, dtype: np.dtype, shape: tuple[int, ...], group: LaneGroup):
        super().__init__(name, dtype, shape, c_strides(shape), 0)
        self.values = np.zeros((self.size, group.rows, group.threads), dtype)
        self.cell, self.memory_bytes = smallest_part(dtype), self.size * dtype.itemsize
        self.written = np.zeros((self.memory_bytes // self.cell, group.rows, group.threads), bool)
        self.lanes, self.complete = group.rows * group.threads, False

    def _places(self, offset, group: LaneGroup) -> np.ndarray:
        return np.multiply(offset, self.lanes) + group.places

    def load(self, offset, mask: Mask):
        if mask.group.whole and isinstance(offset, int):
            return self.values[offset].copy()
        return self.values.reshape(-1).take(self._places(offset, mask.group))

    def store(self, offset, value, mask: Mask) -> None:
        places = self._places(offset, mask.group)
        if mask.lanes is not None:
            places, value = places[mask.grid()], np.broadcast_to(value, places.shape)[mask.grid()]
        self.values.reshape(-1)[places] = value
        if self.cell == self.step:
            self.written.reshape(-1)[places] = True
        else:
            self.wrote(np.multiply(offset, self.step), self.step, mask)

    def unwritten(self, offset, mask: Mask) -> np.ndarray | None:
        """Return the active lanes that would read unwritten memory, ``(blocks, threads)``."""
        if self.complete:
            return None
        if self.cell != self.step:
            return self.unwritten_part(np.multiply(offset, self.step), self.step, mask)
        missing = ~self.written.reshape(-1).take(self._places(offset, mask.group)) & mask.grid()
        if missing.any():
            return missing
        self.complete = bool(self.written.all())
        return None

    # --- parts of elements: ``width`` bytes at byte ``at`` ---

    def unwritten_part(self, at, width: int, mask: Mask) -> np.ndarray | None:
        written = self.written.reshape(-1)
        found = [written.take(places) for places in self._cell_places(at, width, mask)]
        missing = ~np.logical_and.reduce(found) & mask.grid()
        return missing if missing.any() else None

    def wrote(self, at, width: int, mask: Mask) -> None:
        for places in self._cell_places(at, width, mask):
            self.written.reshape(-1)[places if mask.lanes is None else places[mask.grid()]] = True

    def _cell_places(self, at, width: int, mask: Mask) -> Iterator[np.ndarray]:
        first = np.floor_divide(at, self.cell)
        for i in range(max(width // self.cell, 1)):
            yield self._places(first + i, mask.group)

    def split(self, part: int) -> None:
        """Keep written elements by cells of which ``part`` bytes are a whole number."""
        part = math.gcd(part, self.cell)
        self.written, self.cell = np.repeat(self.written, self.cell // part, axis=0), part

    def store_as(self, dtype: np.dtype, at, value, mask: Mask) -> None:
        super().store_as(dtype, at, value, mask)
        self.wrote(at, dtype.itemsize, mask)

    @property
    def raw(self) -> np.ndarray:
        return self.values.reshape(-1).view(np.uint8)

    def _positions(self, at, group: LaneGroup):
        element, byte = np.divmod(at, self.step)
        return self._places(element, group) * self.step + byte
