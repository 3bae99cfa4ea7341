"""TMA: one thread has a whole box copied, from global to shared memory or back.

A *tensor map* says of an array which box a copy moves, and how it is swizzled in shared memory.
Axes are in NumPy's order, rows first; PTX and the driver name the innermost first."""

from __future__ import annotations

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.messages import Name, TypeName, message
from warpwise.simt.hopper.block import Units, need_one_thread
from warpwise.simt.hopper.groups import Reading
from warpwise.simt.hopper.layout import Tile, need_shape, tile_of, uniform
from warpwise.simt.hopper.shadow import COPY, Arriving, Use
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.async_events import Box, Filled
from warpwise.simt.machine.memory import Array, GlobalArray
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes, Value

TICKS = 12  #: from a copy's issue to its end


def load(
    units: Units,
    array: Array,
    tensor_map: Value,
    corner: tuple[Value, ...],
    bars: Array,
    at: Value,
    mask: Mask,
    site: Site,
) -> None:
    """Copy a box into a tile; its bytes count for the phase of an mbarrier. Outside are zeros."""
    need_one_thread(mask, site, "tma_load")
    tile, swizzle = _tile(array, tensor_map, mask, site)
    barrier = units.mbarrier(bars, uniform(at, mask, site, "the mbarrier's index"), mask, site)
    use = Use(units.warp, mask, site, tile.root.name, "written")
    phase = barrier.address, barrier.phase
    units.shadow.filled(use, tile.chunks, Arriving(*phase, barrier.element, swizzle))
    box = np.zeros(tile.shape, array.dtype)
    at = _corner(corner, mask, site)
    source, part = _inside(tensor_map, at)
    box[part] = source
    tile.root.raw[tile.bytes_at(swizzle)] = box.reshape(-1).view(np.uint8)
    end = units.ticks[units.warp] + TICKS
    units.tell(
        "tma_load",
        mask,
        site,
        end,
        filled=Filled(tile.root, tile.first, tile.size),
        counted=phase,
        detail=f"{array.name} -> {barrier.element.open()}",
        moved=_moved("load", tensor_map, at),
    )
    barrier.come += tile.size
    barrier.changed(end)


def store(
    units: Units,
    tensor_map: Value,
    corner: tuple[Value, ...],
    array: Array,
    mask: Mask,
    site: Site,
) -> None:
    """Copy a tile to its box of the array; what is outside is left out."""
    need_one_thread(mask, site, "tma_store")
    tile, swizzle = _tile(array, tensor_map, mask, site)
    use = Use(units.warp, mask, site, tile.root.name, COPY)
    units.shadow.read_until_waited(use, tile.chunks)
    box = tile.root.raw[tile.bytes_at(swizzle)].view(array.dtype).reshape(tile.shape)
    at = _corner(corner, mask, site)
    target, part = _inside(tensor_map, at)
    target[...] = box[part]
    end = units.ticks[units.warp] + TICKS
    reading = Reading(site, tile.chunks, tile.root.name, end)
    units.stores.groups[units.warp].open.append(reading)
    moved = _moved("store", tensor_map, at)
    units.tell("tma_store", mask, site, end, detail=array.name, moved=moved)


def _tile(array: Array, tensor_map: Value, mask: Mask, site: Site) -> tuple[Tile, int]:
    source, box, swizzle = tensor_map
    if source.dtype != array.dtype:
        what = message(
            "{tile} has elements of {one}, and the array of the tensor map of {other}",
            tile=Name(array.name),
            one=TypeName(array.dtype),
            other=TypeName(source.dtype),
        )
        where = site.where_first(mask)
        raise KernelTypeError(what, where, "a tile of the array's type")
    tile = tile_of(array, mask, site, int(swizzle))
    need_shape(tile, tuple(map(int, box)), array.name, site, mask)
    return tile, int(swizzle)


def _corner(corner: tuple[Value, ...], mask: Mask, site: Site) -> tuple[int, ...]:
    return tuple(uniform(one, mask, site, "the coordinates") for one in corner)


def _inside(tensor_map: Value, corner: tuple[int, ...]) -> tuple[Lanes, tuple[slice, ...]]:
    """Return the part of the array that a box covers, and the part of the box that lies inside."""
    covered = _covered(tensor_map, corner)
    of_array = tuple(slice(low, high) for low, high in covered)
    of_box = tuple(
        slice(low - first, high - first) if high > low else slice(0, 0)
        for first, (low, high) in zip(corner, covered, strict=True)
    )
    return _values(tensor_map[0])[of_array], of_box


def _covered(tensor_map: Value, corner: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return by axis which indices of the array a box covers: from the first to before the last."""
    source, box, _ = tensor_map
    return [
        (min(max(first, 0), size), min(max(first + length, 0), size))
        for first, length, size in zip(corner, map(int, box), source.shape, strict=True)
    ]


def _moved(access: str, tensor_map: Value, corner: tuple[int, ...]) -> Box:
    source = tensor_map[0]
    places = np.zeros((), np.int64)
    for (low, high), stride in zip(_covered(tensor_map, corner), source.strides, strict=True):
        places = places[..., None] + np.arange(low, high, dtype=np.int64) * stride
    return Box(access, source, places.reshape(-1))


def _values(source: GlobalArray) -> Lanes:
    """Return a global array in its shape, as the memory that it is."""
    strides = tuple(stride * source.step for stride in source.strides)
    return np.lib.stride_tricks.as_strided(source.flat, source.shape, strides)
