"""Shared and local memory of a batch: one shared array per block, one local array per thread."""

from __future__ import annotations

import numpy as np

from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import Memory, c_strides, chosen
from warpwise.simt.types import DType, Lanes, Value, as_index, common_shape, spread


class SharedArray(Memory):
    """Shared memory of every block of a batch: one row per block. A new batch starts unwritten."""

    space = "shared"

    def __init__(
        self,
        name: str,
        dtype: DType,
        shape: tuple[int, ...],
        address: int,
        group: LaneGroup,
        alignment: int = 1,
    ):
        super().__init__(name, dtype, shape, c_strides(shape), address)
        self.sure_multiple = max(alignment, dtype.alignment)
        self.values = np.zeros((group.rows, self.size), dtype)
        self.memory_bytes = self.size * dtype.itemsize
        self.rows = group.block_rows * self.size

    @property
    def raw(self) -> Lanes:
        return self.values.reshape(-1).view(np.uint8)

    def positions(self, at: Value, group: LaneGroup) -> Value:
        return at + self._rows(group) * self.dtype.itemsize

    def load(self, offset: Value, mask: Mask) -> Value:
        if mask.group.whole and isinstance(offset, int):
            return self.values[:, offset : offset + 1].copy()
        if mask.group.whole and offset.shape[0] == 1:
            return self.values.take(as_index(offset[0]), axis=1)
        return self.values.reshape(-1).take(as_index(offset + self._rows(mask.group)))

    def store(self, offset: Value, value: Value, mask: Mask) -> None:
        shape = common_shape(np.shape(offset), np.shape(value), (mask.group.rows, 1))
        places = spread(offset + self._rows(mask.group), shape)
        if mask.lanes is not None:
            places, value = chosen(places, mask.lanes, shape), chosen(value, mask.lanes, shape)
        elif isinstance(value, np.ndarray) and value.shape != shape:
            value = np.broadcast_to(value, shape)
        self.values.reshape(-1)[places] = value

    def _rows(self, group: LaneGroup) -> Lanes:
        """Return the place in ``values`` where each row's block begins, ``(rows, 1)``."""
        return self.rows if group.whole else group.block_rows * self.size


class LocalArray(Memory):
    """Local memory: one array per thread.

    Kept as planes ``(element, blocks, threads)``, so that a uniform index is one plane."""

    space = "local"

    def __init__(self, name: str, dtype: DType, shape: tuple[int, ...], group: LaneGroup):
        super().__init__(name, dtype, shape, c_strides(shape), 0)
        self.values = np.zeros((self.size, group.rows, group.threads), dtype)
        self.memory_bytes = self.size * dtype.itemsize
        self.lanes = group.rows * group.threads

    def _places(self, offset: Value, group: LaneGroup) -> Lanes:
        places: Lanes = offset * self.lanes + group.places
        return places

    def load(self, offset: Value, mask: Mask) -> Value:
        if isinstance(offset, int):
            plane = self.values[offset]
            return plane.copy() if mask.group.whole else plane.take(as_index(mask.group.places))
        return self.values.reshape(-1).take(as_index(self._places(offset, mask.group)))

    def store(self, offset: Value, value: Value, mask: Mask) -> None:
        if isinstance(offset, int) and mask.group.whole:
            np.copyto(self.values[offset], value, where=True if mask.lanes is None else mask.lanes)
            return
        places = self._places(offset, mask.group)
        if mask.lanes is not None:
            places, value = places[mask.grid()], np.broadcast_to(value, places.shape)[mask.grid()]
        self.values.reshape(-1)[places] = value

    @property
    def raw(self) -> Lanes:
        return self.values.reshape(-1).view(np.uint8)

    def positions(self, at: Value, group: LaneGroup) -> Value:
        element, byte = divmod(at, self.step)
        return self._places(element, group) * self.step + byte
