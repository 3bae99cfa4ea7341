"""Accesses of 16 bytes by each lane: four neighbouring elements of 4 bytes, in one request.

As on a GPU, the address must be a multiple of 16, and a negative index is outside the array. A
request of such elements is like any other: it shows a view whose elements have 16 bytes."""

from __future__ import annotations

import math

import numpy as np

from warpwise.errors import MisalignedError, UnsupportedError
from warpwise.messages import Index, Name, message
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.array_views import View, start
from warpwise.simt.machine.chance import need_alignment
from warpwise.simt.machine.memory import Array
from warpwise.simt.machine.observer import AccessKind, Request
from warpwise.simt.machine.requests import Requests
from warpwise.simt.machine.site import Site
from warpwise.simt.types import DType, Value, as_array

ITEMS = 4  #: elements of a request, by lane
ITEM_BYTES = 4
BYTES = ITEMS * ITEM_BYTES
WIDE = np.dtype((np.void, BYTES))  #: what a lane loads or stores


def load(memory: Requests, array: Array, index: Value, mask: Mask, site: Site) -> tuple[Value, ...]:
    """Load ``array[index]`` and the three elements behind it; return one value for each."""
    view, at = quads(memory, array, index, mask, site)
    return parts(memory.load(view, [at], mask, site), array.dtype)


def store(
    memory: Requests,
    array: Array,
    index: Value,
    values: tuple[Value, ...],
    mask: Mask,
    site: Site,
) -> None:
    """Store four values, of the array's type, from ``array[index]`` on."""
    view, at = quads(memory, array, index, mask, site)
    memory.store(view, [at], whole(values, array.dtype), mask, site)


def request(
    memory: Requests, access: AccessKind, array: Array, index: Value, mask: Mask, site: Site
) -> Request:
    """Check a request of 16 bytes for each lane, and return it."""
    view, at = quads(memory, array, index, mask, site)
    return memory.request(access, view, [at], mask, site)


def parts(loaded: Value, dtype: DType) -> tuple[Value, ...]:
    """Return the four elements of each lane's 16 bytes."""
    wide = np.ascontiguousarray(loaded)
    single = wide.view(dtype).reshape(*wide.shape, ITEMS)
    return tuple(single[..., k] if np.ndim(loaded) else single.reshape(-1)[k] for k in range(ITEMS))


def whole(values: tuple[Value, ...], dtype: DType) -> Value:
    """Return four values of each lane as 16 bytes, ``(1, 1)`` or lane-shaped."""
    lanes = np.broadcast_arrays(*(np.atleast_2d(np.asarray(value, dtype)) for value in values))
    return np.stack(lanes, axis=-1).view(WIDE)[..., 0]


def quads(
    memory: Requests, array: Array, index: Value, mask: Mask, site: Site
) -> tuple[View, Value]:
    """Return an array as elements of 16 bytes, one for each that they may begin at; and the index.

    Raises OutOfBoundsError for four elements that do not lie in the array, and MisalignedError for
    those that do not begin at a multiple of 16 bytes, or do so by chance."""
    index = index.astype(np.int64) if isinstance(index, np.ndarray) else int(index)
    if np.any(below := np.less(index, 0) & mask.grid()):
        raise memory.out_of_bounds(array, 0, as_array(index), below, mask, site)
    view, name = start(array), Name(array.name)
    if view.strides[0] * view.step != ITEM_BYTES:
        what = message("{array} has gaps: 16 bytes of it are no four elements", array=name)
        raise UnsupportedError(what, site.where(), "pass a copy, whose elements lie side by side")
    _need_aligned(view, index, mask, site)
    if view.root.space == "shared":
        need_alignment(view.root, BYTES, "16 bytes of it are accessed at once", mask, site)
    for last in (index, index + (ITEMS - 1)):
        memory.offset(array, [last], mask, site)
    most = view.shape[0] - ITEMS + 1
    return (
        View(
            view.root,
            array.name,
            WIDE,
            view.base * view.step,
            (most,),
            (ITEM_BYTES,),
            1,
            view.info,
            math.gcd(view.cell, BYTES),
        ),
        index,
    )


def _need_aligned(view: View, index: Value, mask: Mask, site: Site) -> None:
    addresses = view.address + as_array(index) * ITEM_BYTES
    bad = np.asarray(addresses % BYTES != 0)
    if not bad.any() or not (bad := bad & mask.grid()).any():
        return
    lane = np.unravel_index(int(np.argmax(bad)), mask.group.shape)
    first = int(np.broadcast_to(index, mask.group.shape)[lane])
    what = message(
        "four elements of {array} are accessed at once from {index} on, and their address is no "
        "multiple of 16 bytes: a GPU stops there",
        array=Name(view.name),
        index=Index(first, None),
    )
    try_this = "an index that is a multiple of 4, in an array that begins at a multiple of 16 bytes"
    raise MisalignedError(what, site.where(**mask.group.first_of(bad)), try_this)
