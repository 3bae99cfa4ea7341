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
from warpwise.simt.machine.memory import GlobalArray, Memory, dtype_name
from warpwise.traces import ArrayInfo


@dataclass(frozen=True, eq=False)
class View:
    """A window on ``root``; ``base`` and the entries of ``shape`` are ints or lanes.

    ``info`` is the whole array that it shows a part of, as a trace lists it."""

    root: Memory
    name: str
    dtype: np.dtype
    base: object
    shape: tuple
    strides: tuple[int, ...]
    step: int  #: bytes that ``base`` and strides count in: the memory's elements, or 1
    info: ArrayInfo
    alignment: int = 1

    @property
    def space(self) -> str:
        return self.root.space

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @cached_property
    def size(self):
        return math.prod(self.shape)

    @property
    def address(self):
        return self.root.address + self.base * self.step

    @cached_property
    def is_whole(self) -> bool:
        """True if its elements are those of its memory."""
        return self.dtype == self.root.dtype and self.step == self.root.step

    # --- what requests ask of every array ---

    def load(self, offset, mask: Mask):
        if self.is_whole:
            return self.root.load(self._at(offset, mask), mask)
        return self.root.load_as(self.dtype, self._at(offset, mask), mask.group)

    def store(self, offset, value, mask: Mask) -> None:
        if self.is_whole:
            self.root.store(self._at(offset, mask), value, mask)
        else:
            self.root.store_as(self.dtype, self._at(offset, mask), value, mask)

    def touch(self, line: int, kind: str, offset, mask: Mask) -> None:
        if self.is_whole:
            self.root.touch(line, kind, self._at(offset, mask), mask)
        else:
            self.root.touch_part(line, kind, self._at(offset, mask), self.dtype.itemsize, mask)

    def unwritten(self, offset, mask: Mask):
        if self.is_whole:
            return self.root.unwritten(self._at(offset, mask), mask)
        return self.root.unwritten_part(self._at(offset, mask), self.dtype.itemsize, mask)

    def cells(self, offset) -> tuple:
        """Return the first cell of the element at an offset, and how many cells it covers."""
        cell = self.root.cell
        return (self.base + offset) * self.step // cell, max(self.dtype.itemsize // cell, 1)

    @property
    def shadow(self):
        return self.root.shadow

    def _at(self, offset, mask: Mask):
        """Return steps from the start of the memory.

        An inactive lane may have any base: it is kept within the memory."""
        at = self.base + offset
        if mask.lanes is None or not isinstance(at, np.ndarray):
            return at
        last = self.root.memory_bytes // self.step - (1 if self.is_whole else self.dtype.itemsize)
        return np.clip(at, 0, max(last, 0))

    # --- what variables ask of it ---

    def taken(self, selection) -> View:
        """See ``compaction.Selection.take``."""
        return replace(self, base=selection.take(self.base), shape=selection.take(self.shape))

    def put_back(self, selection, before):
        """See ``compaction.Selection.put``."""
        joins = hasattr(before, "joined") and before is not self
        return start(before).joined(self, selection) if joins else self

    def joined(self, value, selection) -> View:
        """Return ``value`` in the lanes of a selection, this view in the others."""
        return self._with(start(value), selection.put)

    def merged(self, mask: Mask, other, site) -> View:
        """Return this view in the active lanes, ``other`` in the rest.

        Raises UnsupportedError if that is of other memory."""
        return start(other)._with(self, lambda new, old: np.where(mask.lanes, new, old), site)

    def _with(self, new: View, either: Callable, site=None) -> View:
        """Join another view with this one. ``either(new, old)``: joins bases, or lengths."""
        layout, theirs = ((v.strides, v.step, v.dtype) for v in (self, new))
        if new.root is not self.root or layout != theirs:
            raise UnsupportedError(
                message(
                    "this stands for {one} in some threads and for {other} in others",
                    one=Name(new.name),
                    other=Name(self.name),
                ),
                site and site.where(),
                "choose between elements, not between arrays",
            )
        base, *shape = (
            a if a is b or _equal(a, b) else either(a, b)
            for a, b in zip((new.base, *new.shape), (self.base, *self.shape), strict=True)
        )
        return replace(new, base=base, shape=tuple(shape))


def _equal(a, b) -> bool:
    return type(a) is int and type(b) is int and a == b


def start(array) -> View:
    """Return an array as a view of itself."""
    if isinstance(array, View):
        return array
    return View(
        array, array.name, array.dtype, 0, array.shape, array.strides, array.step, array.info
    )


def argument(name: str, values: np.ndarray, address: int) -> GlobalArray | View:
    """Return a NumPy array as a kernel's argument; ``address``: of its element [0, 0, ...].

    One that runs backwards, or whose elements do not lie at multiples of their size, is a view of
    its memory."""
    dtype, shape = values.dtype, values.shape
    width, alignment = values.itemsize, 1 if dtype.names else dtype.alignment
    by_element = not any(stride % width for stride in values.strides) and address % alignment == 0
    if by_element and (values.size == 0 or min(values.strides) >= 0):
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
    return View(root, name, dtype, before // step, shape, strides, step, info, needs)


def _bytes(values: np.ndarray) -> np.ndarray:
    """Return the memory from the first element's first byte to the last one's last.

    No stride is negative."""
    last = -values.itemsize
    if values.size:
        last = sum((n - 1) * step for n, step in zip(values.shape, values.strides, strict=True))
    one = np.lib.stride_tricks.as_strided(values, (1,), (values.itemsize,)).view(np.uint8)
    return np.lib.stride_tricks.as_strided(one, (last + values.itemsize,), (1,))


def arrays_of(value) -> tuple:
    """Return the arrays in an argument: itself, or those in a tuple."""
    if isinstance(value, tuple):
        return tuple(array for item in value for array in arrays_of(item))
    return (value,) if isinstance(value, (Memory, View)) else ()
