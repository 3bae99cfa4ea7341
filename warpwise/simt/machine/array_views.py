"""Views: windows on memory that another array owns, as slices, fields and transposes are.

The beginning of a view and the lengths of its axes may differ from lane to lane; its strides are
the same for all. A view counts in steps: whole elements of its memory, or bytes where it shows
parts of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from warpwise.errors import UnsupportedError
from warpwise.messages import Name, message
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import Array, GlobalArray, Memory, dtype_name
from warpwise.simt.machine.selection import Selection
from warpwise.simt.machine.site import Site
from warpwise.simt.types import DType, Lanes, Value, as_array, clipped
from warpwise.traces import ArrayInfo


@dataclass(frozen=True, eq=False)
class View:
    """A window on ``root``; ``base`` and the entries of ``shape`` are ints or lanes.

    ``info`` is the whole array that it shows a part of, as a trace lists it."""

    root: Memory
    name: str
    dtype: DType
    base: Value
    shape: tuple[Value, ...]
    strides: tuple[int, ...]
    step: int  #: bytes that ``base`` and strides count in: the memory's elements, or 1
    info: ArrayInfo
    cell: int  #: bytes of which size and place of every element are whole multiples
    alignment: int = 1

    @property
    def space(self) -> str:
        return self.root.space

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @cached_property
    def size(self) -> Value:
        return math.prod(self.shape)

    @property
    def address(self) -> Value:
        return self.root.address + self.base * self.step

    @cached_property
    def is_whole(self) -> bool:
        """True if its elements are those of its memory."""
        return self.dtype == self.root.dtype and self.step == self.root.step

    # --- what requests ask of every array ---

    def place(self, offset: Value, mask: Mask) -> Value:
        """See ``memory.Array.place``.

        An inactive lane may have any base: it is kept within the memory."""
        at = self.base + offset
        if mask.lanes is None or not isinstance(at, np.ndarray):
            return at
        last = self.root.memory_bytes // self.step - (1 if self.is_whole else self.dtype.itemsize)
        return clipped(at, 0, max(last, 0))

    def load(self, offset: Value, mask: Mask) -> Value:
        if self.is_whole:
            return self.root.load(self.place(offset, mask), mask)
        return self.root.load_as(self.dtype, self.place(offset, mask), mask.group)

    def store(self, offset: Value, value: Value, mask: Mask) -> None:
        if self.is_whole:
            self.root.store(self.place(offset, mask), value, mask)
        else:
            self.root.store_as(self.dtype, self.place(offset, mask), value, mask)

    # --- what variables ask of it ---

    def taken(self, selection: Selection) -> View:
        """See ``selection.Selection.take``."""
        shape: tuple[Value, ...] = selection.take(self.shape)
        return replace(self, base=selection.take(self.base), shape=shape)

    def put_back(self, selection: Selection, before: Value) -> Value:
        """See ``selection.Selection.put``."""
        joins = hasattr(before, "joined") and before is not self
        return start(before).joined(self, selection) if joins else self

    def joined(self, value: Array, selection: Selection) -> View:
        """Return ``value`` in the lanes of a selection, this view in the others."""
        return self._with(start(value), selection.put)

    def merged(self, mask: Mask, other: Array, site: Site | None) -> View:
        """Return this view in the active lanes, ``other`` in the rest.

        Raises UnsupportedError if that is of other memory."""
        lanes = mask.grid() if mask.lanes is None else mask.lanes
        return start(other)._with(self, lambda new, old: np.where(lanes, as_array(new), old), site)

    def _with(
        self, new: View, either: Callable[[Value, Value], Value], site: Site | None = None
    ) -> View:
        """Join another view with this one. ``either(new, old)``: joins bases, or lengths."""
        layout, theirs = ((v.strides, v.step, v.dtype) for v in (self, new))
        if new.root is not self.root or layout != theirs:
            raise UnsupportedError(
                message(
                    "this stands for {one} in some threads and for {other} in others",
                    one=Name(new.name),
                    other=Name(self.name),
                ),
                None if site is None else site.where(),
                "choose between elements, not between arrays",
            )
        base, *shape = (
            a if a is b or _equal(a, b) else either(a, b)
            for a, b in zip((new.base, *new.shape), (self.base, *self.shape), strict=True)
        )
        return replace(new, base=base, shape=tuple(shape))


def _equal(a: Value, b: Value) -> bool:
    return type(a) is int and type(b) is int and a == b


def start(array: Array) -> View:
    """Return an array as a view of itself."""
    if isinstance(array, View):
        return array
    return View(
        array.root,
        array.name,
        array.dtype,
        0,
        array.shape,
        array.strides,
        array.step,
        array.info,
        array.cell,
    )


def argument(name: str, values: Lanes, address: int) -> GlobalArray | View:
    """Return a NumPy array as a kernel's argument; ``address``: of its element [0, 0, ...].

    One that runs backwards, or whose elements do not lie at multiples of their size, is a view of
    its memory."""
    dtype, shape = values.dtype, values.shape
    width, alignment = values.itemsize, 1 if dtype.names else dtype.alignment
    by_element = not any(stride % width for stride in values.strides) and address % alignment == 0
    if by_element and (values.size == 0 or min(values.strides, default=0) >= 0):
        return GlobalArray(name, values, address)
    before = -sum(
        (n - 1) * stride
        for n, stride in zip(shape, values.strides, strict=True)
        if stride < 0 and values.size
    )
    ways = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in values.strides)
    memory = values[ways] if by_element else _bytes(values[ways])
    root = GlobalArray(name, memory, address - before)
    step, needs = (width, 1) if by_element else (1, alignment)
    strides = tuple(stride // step for stride in values.strides)
    info = ArrayInfo(name, "global", dtype_name(dtype), shape, address, values.strides)
    base = before // step
    return View(root, name, dtype, base, shape, strides, step, info, root.cell, needs)


def _bytes(values: Lanes) -> Lanes:
    """Return the memory from the first element's first byte to the last one's last.

    No stride is negative."""
    last = -values.itemsize
    if values.size:
        last = sum((n - 1) * step for n, step in zip(values.shape, values.strides, strict=True))
    one = np.lib.stride_tricks.as_strided(values, (1,), (values.itemsize,)).view(np.uint8)
    return np.lib.stride_tricks.as_strided(one, (last + values.itemsize,), (1,))


def arrays_of(value: Value) -> tuple[Memory | View, ...]:
    """Return the arrays in an argument: itself, or those in a tuple."""
    if isinstance(value, tuple):
        return tuple(array for item in value for array in arrays_of(item))
    return (value,) if isinstance(value, (Memory, View)) else ()
