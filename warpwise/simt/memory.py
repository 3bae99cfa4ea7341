"""Memory as a kernel sees it: global arrays, one shared array per block, one local array per thread.

An *offset* counts elements from the array's first one and has the shape of what it varies with: a Python int, ``(1, threads)``,
``(blocks, 1)`` or ``(blocks, threads)``. Offsets arrive checked: bounds belong to ``indexing``.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise.errors import LaunchError
from warpwise.simt.extent import Extent
from warpwise.simt.masks import Mask
from warpwise.simt.sanitizer import Shadow
from warpwise.simt.touched import Touched
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
        self.size, self.flat = values.size, _span(values)
        self.strides = tuple(stride // values.itemsize for stride in values.strides)
        self.address, self.end = address, address + self.flat.nbytes
        self.info = ArrayInfo(name, self.space, str(self.dtype), self.shape, address)
        self.touched: dict[tuple[int, str], Touched] = {}  #: by line and kind of request

    def load(self, offset, mask: Mask):
        return self.flat[offset] if isinstance(offset, int) else self.flat.take(offset)

    def store(self, offset, value, mask: Mask) -> None:
        """Write the active lanes' values; where several name one element, the highest lane's stays."""
        if not self.flat.flags.writeable:
            raise LaunchError(f"{self.name} is a read-only array, and the kernel writes to it: pass a copy")
        if mask.lanes is not None:
            shapes = np.shape(offset), np.shape(value)
            offset, value = chosen(offset, mask, *shapes), chosen(value, mask, *shapes)
        elif np.shape(offset) != np.shape(value) and not isinstance(value, (int, float, np.generic)):
            offset, value = np.broadcast_arrays(offset, value)
        if isinstance(offset, int) and isinstance(value, np.ndarray):
            value = value.reshape(-1)[-1]
        self.flat[offset] = value

    def touch(self, line: int, kind: str, offset, mask: Mask) -> None:
        """Remember which elements a line has named."""
        if mask.lanes is not None and isinstance(offset, np.ndarray):
            offset = chosen(offset, mask, offset.shape)
        self.touched.setdefault((line, kind), Touched()).add(np.asarray(offset), self.flat.size)


def _span(values: np.ndarray) -> np.ndarray:
    """The memory from the first element to the last as one flat view, gaps included: a view keeps its pitch.

    Raises LaunchError for a view that runs backwards.
    """
    if values.size == 0:
        return np.empty(0, values.dtype)
    if min(values.strides) < 0 or any(stride % values.itemsize for stride in values.strides):
        raise LaunchError("a kernel cannot take a view that runs backwards or between elements: pass a copy")
    last = sum((n - 1) * stride for n, stride in zip(values.shape, values.strides, strict=True))
    return np.lib.stride_tricks.as_strided(values, (last // values.itemsize + 1,), (values.itemsize,))


class SharedArray:
    """Shared memory of every block of a batch: one row per block. A new batch starts unwritten."""

    space = "shared"

    def __init__(self, name: str, dtype: np.dtype, shape: tuple[int, ...], address: int, extent: Extent):
        self.name, self.dtype, self.shape, self.ndim = name, dtype, shape, len(shape)
        self.size, self.strides, self.address = math.prod(shape), c_strides(shape), address
        self.values = np.zeros((extent.rows, self.size), dtype)
        self.rows = extent.block_rows * self.size
        self.shadow = Shadow(self.size, extent)
        self.info = ArrayInfo(name, self.space, str(dtype), shape, address)

    def load(self, offset, mask: Mask):
        if mask.extent.whole and isinstance(offset, int):
            return self.values[:, offset : offset + 1].copy()
        if mask.extent.whole and offset.shape[0] == 1:
            return self.values.take(offset[0], axis=1)
        return self.values.reshape(-1).take(offset + self._rows(mask.extent))

    def store(self, offset, value, mask: Mask) -> None:
        shape = np.broadcast_shapes(np.shape(offset), np.shape(value), (mask.extent.rows, 1))
        places = np.broadcast_to(offset + self._rows(mask.extent), shape)
        if mask.lanes is not None:
            places, value = chosen(places, mask, shape), chosen(value, mask, shape)
        elif isinstance(value, np.ndarray) and value.shape != shape:
            value = np.broadcast_to(value, shape)
        self.values.reshape(-1)[places] = value

    def _rows(self, extent: Extent) -> np.ndarray:
        """Where each row's block begins in ``values``, ``(rows, 1)``."""
        return self.rows if extent.whole else extent.block_rows * self.size


class LocalArray:
    """Local memory: one array per thread, kept as planes ``(element, blocks, threads)`` so that a uniform index is one plane."""

    space = "local"

    def __init__(self, name: str, dtype: np.dtype, shape: tuple[int, ...], extent: Extent):
        self.name, self.dtype, self.shape, self.ndim = name, dtype, shape, len(shape)
        self.size, self.strides, self.address = math.prod(shape), c_strides(shape), 0
        lanes = (self.size, extent.rows, extent.threads)
        self.values, self.written = np.zeros(lanes, dtype), np.zeros(lanes, bool)
        self.lanes, self.complete = extent.rows * extent.threads, False

    def _places(self, offset, extent: Extent) -> np.ndarray:
        return np.multiply(offset, self.lanes) + extent.places

    def load(self, offset, mask: Mask):
        if mask.extent.whole and isinstance(offset, int):
            return self.values[offset].copy()
        return self.values.reshape(-1).take(self._places(offset, mask.extent))

    def store(self, offset, value, mask: Mask) -> None:
        places = self._places(offset, mask.extent)
        if mask.lanes is not None:
            places, value = places[mask.grid()], np.broadcast_to(value, places.shape)[mask.grid()]
        self.values.reshape(-1)[places] = value
        self.written.reshape(-1)[places] = True

    def unwritten(self, offset, mask: Mask) -> np.ndarray | None:
        """The active lanes that would read what they never wrote, ``(blocks, threads)``; None if there are none."""
        if self.complete:
            return None
        missing = ~self.written.reshape(-1).take(self._places(offset, mask.extent)) & mask.grid()
        if missing.any():
            return missing
        self.complete = bool(self.written.all())
        return None


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of an array in C order."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))
