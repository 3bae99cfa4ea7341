"""Memory as a kernel sees it: global arrays, one shared array per block, one local array per thread.

An *offset* counts elements from the array's first one and has the shape of what it varies with: a Python int, ``(1, threads)``,
``(blocks, 1)`` or ``(blocks, threads)``. Offsets arrive checked: bounds belong to ``indexing``.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise.simt.masks import Extent, Mask
from warpwise.simt.sanitizer import Shadow
from warpwise.trace import ArrayInfo

ALIGNMENT = 256  # of every allocation in global memory (CUDA C++ Programming Guide, "Device Memory Accesses")


def chosen(value, mask: Mask, *shapes: tuple[int, ...]) -> np.ndarray:
    """The values of the active lanes as one flat array; ``shapes`` are those of the values it must line up with."""
    return np.broadcast_to(value, np.broadcast_shapes(mask.lanes.shape, *shapes))[_lanes(mask, *shapes)]


def _lanes(mask: Mask, *shapes: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(mask.lanes, np.broadcast_shapes(mask.lanes.shape, *shapes))


class GlobalArray:
    """An argument of the launch, flat, with its strides in elements. Writes go to the caller's array."""

    space = "global"

    def __init__(self, name: str, values: np.ndarray, address: int):
        self.name, self.dtype, self.shape, self.ndim = name, values.dtype, values.shape, values.ndim
        self.values, self.size = values, values.size
        self.flat = _flat_view(values)
        self.copied = self.flat is None
        if self.copied:
            self.flat = np.ascontiguousarray(values).reshape(-1)
        self.strides = _element_strides(values if not self.copied else np.empty(values.shape, np.int8, order="C"))
        self.address = address
        self.info = ArrayInfo(name, self.space, str(self.dtype), self.shape, address)
        self.touched: dict[int, np.ndarray] = {}

    def finish(self) -> None:
        """Give back what was written, where the kernel worked on a copy."""
        if self.copied and self.values.flags.writeable:
            self.values[...] = self.flat.reshape(self.shape)

    def load(self, offset, mask: Mask):
        return self.flat[offset] if isinstance(offset, int) else self.flat.take(offset)

    def store(self, offset, value, mask: Mask) -> None:
        """Write the active lanes' values; where several name one element, the highest lane's stays."""
        if mask.lanes is not None:
            shapes = np.shape(offset), np.shape(value)
            offset, value = chosen(offset, mask, *shapes), chosen(value, mask, *shapes)
        elif np.shape(offset) != np.shape(value) and not isinstance(value, (int, float, np.generic)):
            offset, value = np.broadcast_arrays(offset, value)
        if isinstance(offset, int) and isinstance(value, np.ndarray):
            value = value.reshape(-1)[-1]
        self.flat[offset] = value

    def touch(self, line: int, offset, mask: Mask) -> None:
        """Remember which elements a line has named."""
        if line not in self.touched:
            self.touched[line] = np.zeros(self.flat.size, bool)
        if mask.lanes is not None:
            offset = chosen(offset, mask, np.shape(offset))
        self.touched[line][offset] = True

    def distinct_bytes(self, lines) -> int:
        """Distinct bytes that any of these lines named."""
        seen = [self.touched[line] for line in lines if line in self.touched]
        return int(np.count_nonzero(np.logical_or.reduce(seen))) * self.dtype.itemsize if seen else 0


def _flat_view(values: np.ndarray) -> np.ndarray | None:
    """A one-dimensional view in memory order; None where the array has gaps."""
    if values.flags.c_contiguous:
        return values.reshape(-1)
    return values.T.reshape(-1) if values.flags.f_contiguous else None


def _element_strides(values: np.ndarray) -> tuple[int, ...]:
    return tuple(s // values.itemsize for s in values.strides)


class SharedArray:
    """Shared memory of every block of a batch: one row per block. A new batch starts unwritten."""

    space = "shared"

    def __init__(self, name: str, dtype: np.dtype, shape: tuple[int, ...], address: int, extent: Extent):
        self.name, self.dtype, self.shape, self.ndim = name, dtype, shape, len(shape)
        self.size, self.strides, self.address = math.prod(shape), c_strides(shape), address
        self.values = np.zeros((extent.blocks, self.size), dtype)
        self.rows = np.arange(extent.blocks)[:, None] * self.size
        self.shadow = Shadow(self.size, extent)
        self.info = ArrayInfo(name, self.space, str(dtype), shape, address)

    def load(self, offset, mask: Mask):
        if isinstance(offset, int):
            return self.values[:, offset : offset + 1].copy()
        if offset.shape[0] == 1:
            return self.values.take(offset[0], axis=1)
        return self.values.reshape(-1).take(offset + self.rows)

    def store(self, offset, value, mask: Mask) -> None:
        shape = np.broadcast_shapes(np.shape(offset), np.shape(value), (len(self.values), 1))
        places = np.broadcast_to(offset + self.rows, shape)
        if mask.lanes is not None:
            places, value = chosen(places, mask, shape), chosen(value, mask, shape)
        elif isinstance(value, np.ndarray) and value.shape != shape:
            value = np.broadcast_to(value, shape)
        self.values.reshape(-1)[places] = value


class LocalArray:
    """Local memory: one array per thread, kept as planes ``(element, blocks, threads)`` so that a uniform index is one plane."""

    space = "local"

    def __init__(self, name: str, dtype: np.dtype, shape: tuple[int, ...], extent: Extent):
        self.name, self.dtype, self.shape, self.ndim = name, dtype, shape, len(shape)
        self.size, self.strides, self.address = math.prod(shape), c_strides(shape), 0
        lanes = (self.size, extent.blocks, extent.threads)
        self.values, self.written = np.zeros(lanes, dtype), np.zeros(lanes, bool)
        self.lane = np.arange(extent.blocks * extent.threads).reshape(extent.blocks, extent.threads)
        self.complete = False

    def _places(self, offset) -> np.ndarray:
        return np.multiply(offset, self.lane.size) + self.lane

    def load(self, offset, mask: Mask):
        if isinstance(offset, int):
            return self.values[offset].copy()
        return self.values.reshape(-1).take(self._places(offset))

    def store(self, offset, value, mask: Mask) -> None:
        places = self._places(offset)
        if mask.lanes is not None:
            places, value = places[mask.grid()], np.broadcast_to(value, places.shape)[mask.grid()]
        self.values.reshape(-1)[places] = value
        self.written.reshape(-1)[places] = True

    def unwritten(self, offset, mask: Mask) -> np.ndarray | None:
        """The active lanes that would read what they never wrote, ``(blocks, threads)``; None if there are none."""
        if self.complete:
            return None
        missing = ~self.written.reshape(-1).take(self._places(offset)) & mask.grid()
        if missing.any():
            return missing
        self.complete = bool(self.written.all())
        return None


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of an array in C order."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))
