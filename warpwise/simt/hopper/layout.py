"""The tiles in shared memory that TMA and wgmma use, and where their bytes lie.

Both take the bits of a swizzle (see ``model.swizzle``) from the address itself, so that a tile has
to begin where its pattern does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warpwise.errors import KernelTypeError, MisalignedError, UnsupportedError
from warpwise.messages import Constant, Lengths, Name, Size, message
from warpwise.model.swizzle import CHUNK, swizzled
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.chance import need_alignment
from warpwise.simt.machine.memory import Array, Memory, c_strides
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes, Value, as_array

#: swizzle -> the bytes after which its pattern repeats; TMA itself needs 128
PATTERN = {0: 128, 32: 256, 64: 512, 128: 1024}


@dataclass(frozen=True)
class Tile:
    """A contiguous part of a shared array: ``address`` is that of its first byte in the block."""

    root: Memory
    address: int
    shape: tuple[int, ...]
    itemsize: int

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.itemsize

    @property
    def first(self) -> int:
        """Its first byte, from the start of its array."""
        return self.address - self.root.address

    def bytes_at(self, swizzle: int) -> Lanes:
        """Return the place in the array's memory of each byte, in the order of the elements."""
        plain = np.arange(self.address, self.address + self.size, dtype=np.int64)
        return swizzled(plain, swizzle) - self.root.address

    @property
    def chunks(self) -> Lanes:
        last = -(-(self.address + self.size) // CHUNK)
        return np.arange(self.address // CHUNK, last, dtype=np.int64)


def uniform(value: Value, mask: Mask, site: Site, what: str) -> int:
    """Return a number that is the same in all active lanes, or raise UnsupportedError."""
    if not isinstance(value, np.ndarray):
        return int(value)
    lanes = np.broadcast_to(as_array(value), mask.group.shape)[mask.grid()]
    if (lanes != lanes[0]).any():
        told = message("the threads of a warp give different values for {what}", what=Name(what))
        place = site.where_first(mask)
        raise UnsupportedError(told, place, "the same value in every thread that gets here")
    return int(lanes[0])


def tile_of(array: Array, mask: Mask, site: Site, swizzle: int) -> Tile:
    """Return a shared array, or a part of one such as ``tiles[stage]``, as a tile.

    Raises KernelTypeError unless its elements lie one after another, MisalignedError unless it is
    sure to begin where the swizzle's pattern does."""
    shape = tuple(uniform(size, mask, site, "a shape") for size in array.shape)
    address = uniform(array.address, mask, site, "the tile")
    width, where = array.dtype.itemsize, site.where_first(mask)
    if tuple(n * array.step for n in array.strides) != tuple(n * width for n in c_strides(shape)):
        what = message(
            "{array} is a part of shared memory whose elements do not lie one after another",
            array=Name(array.name),
        )
        raise KernelTypeError(what, where, "a whole shared array, or one stage of it: tiles[stage]")
    if address % PATTERN[swizzle]:
        raise _misplaced(array, address, swizzle, site, mask)
    need_alignment(array.root, PATTERN[swizzle], "a tile of its swizzle lies in it", mask, site)
    return Tile(array.root, address, shape, width)


def _misplaced(array: Array, address: int, swizzle: int, site: Site, mask: Mask) -> MisalignedError:
    pattern = Constant(PATTERN[swizzle])
    what = message(
        "{array} begins [[at byte {address} of shared memory|at a byte that does not fit]]: for a "
        "swizzle of {swizzle} bytes a tile begins at a multiple of {pattern} bytes",
        array=Name(array.root.name),
        address=Size(address),
        swizzle=Constant(swizzle),
        pattern=pattern,
    )
    remedy = message(
        "alignment={pattern} in cuda.shared.array(...), and stages of a multiple of so many bytes",
        pattern=pattern,
    )
    return MisalignedError(what, site.where_first(mask), remedy)


def need_shape(tile: Tile, box: tuple[int, ...], name: str, site: Site, mask: Mask) -> None:
    """Raise KernelTypeError unless a tile is as large as the box that is copied."""
    if tile.shape == box:
        return
    what = message(
        "[[{tile} has the shape {shape}, and the box of the tensor map is {box}|the box of the "
        "tensor map has another shape than {tile}]]: a copy moves the whole box",
        tile=Name(name),
        shape=Lengths(tile.shape),
        box=Lengths(box),
    )
    where = site.where_first(mask)
    raise KernelTypeError(what, where, "a tile of the box's shape, or a tensor map with its box")
