"""Views: what a slice, a partial index, a field or a transpose of an array is, a window on memory that another array owns.

Where a view begins and how long its axes are may differ from lane to lane; its strides are the same for all. A view counts in steps:
whole elements of its memory, or bytes where it shows parts of them. Nothing is read or counted when a view is made, but its indices
are checked then, as Numba's simulator does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from warpwise.errors import UnsupportedError
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import GlobalArray, Memory, c_strides, describe
from warpwise.trace import ArrayInfo

NEW_AXIS = None


@dataclass(frozen=True, eq=False)
class View:
    """``base`` and the entries of ``shape`` are ints or lanes. ``info`` is the whole array that it shows a part of, as a trace lists it."""

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
        return self.root.load_as(self.dtype, self._at(offset, mask), mask.extent)

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
        """The first cell of its memory of the element at an offset, and how many it covers."""
        cell = self.root.cell
        return (self.base + offset) * self.step // cell, max(self.dtype.itemsize // cell, 1)

    @property
    def shadow(self):
        return self.root.shadow

    def _at(self, offset, mask: Mask):
        """Steps from the start of the memory. A lane that is not active may have any base: it is kept within the memory."""
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
        """See ``compaction.Selection.put``: this view in the lanes of the selection, ``before`` in the others."""
        return start(before).joined(self, selection) if hasattr(before, "joined") and before is not self else self

    def joined(self, value, selection) -> View:
        return self._with(start(value), lambda new, old: new if new is old or _equal(new, old) else selection.put(new, old))

    def merged(self, mask: Mask, other, site) -> View:
        """This view in the active lanes, ``other`` in the rest. Raises UnsupportedError if it is of other memory."""

        def either(new, old):
            return new if new is old or _equal(new, old) else np.where(mask.lanes, new, old)

        return start(other)._with(self, either, site)

    def _with(self, new: View, either: Callable, site=None) -> View:
        if new.root is not self.root or (new.strides, new.step, new.dtype) != (self.strides, self.step, self.dtype):
            raise UnsupportedError(
                f"this stands for {new.name} in some threads and for {self.name} in others",
                site and site.where(),
                "choose between elements, not between arrays",
            )
        shape = tuple(either(a, b) for a, b in zip(new.shape, self.shape, strict=True))
        return replace(new, base=either(new.base, self.base), shape=shape)


def _equal(a, b) -> bool:
    return type(a) is int and type(b) is int and a == b


def start(array) -> View:
    """An array as a view of itself."""
    if isinstance(array, View):
        return array
    return View(array, array.name, array.dtype, 0, array.shape, array.strides, array.step, array.info)


def argument(name: str, values: np.ndarray, address: int) -> GlobalArray | View:
    """A NumPy array as a kernel's argument; ``address``: of its element [0, 0, ...].

    One that runs backwards, or whose elements do not lie at multiples of their size, is a view of its memory.
    """
    width, alignment = values.itemsize, 1 if values.dtype.names else values.dtype.alignment
    by_element = not any(stride % width for stride in values.strides) and address % alignment == 0
    if by_element and (values.size == 0 or min(values.strides) >= 0):
        return GlobalArray(name, values, address)
    before = -sum((n - 1) * stride for n, stride in zip(values.shape, values.strides, strict=True) if stride < 0 and values.size)
    forwards = values[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in values.strides)]
    step = width if by_element else 1
    root = GlobalArray(name, forwards if by_element else _bytes(forwards), address - before)
    strides = tuple(stride // step for stride in values.strides)
    info = ArrayInfo(name, "global", describe(name, "", values.dtype, (), 0, ()).dtype, values.shape, address, values.strides)
    return View(root, name, values.dtype, before // step, values.shape, strides, step, info, 1 if by_element else alignment)


def _bytes(values: np.ndarray) -> np.ndarray:
    """The memory from the first element's first byte to the last one's last; no stride is negative."""
    last = sum((n - 1) * stride for n, stride in zip(values.shape, values.strides, strict=True)) if values.size else -values.itemsize
    one = np.lib.stride_tricks.as_strided(values, (1,), (values.itemsize,)).view(np.uint8)
    return np.lib.stride_tricks.as_strided(one, (last + values.itemsize,), (1,))


@dataclass(frozen=True)
class Bounds:
    """``start:stop:step`` of a slice; None where left out. ``step`` is an int, the others ints or lanes."""

    start: object
    stop: object
    step: int = 1

    def of(self, size) -> tuple:
        """First index and length for an axis of some size, cut to it as Python does."""
        low, high = (0, size) if self.step > 0 else (-1, size - 1)
        first = (low if self.step > 0 else high) if self.start is None else _cut(self.start, size, low, high)
        end = (high if self.step > 0 else low) if self.stop is None else _cut(self.stop, size, low, high)
        count = (end - first + self.step - (1 if self.step > 0 else -1)) // self.step
        length = max(count, 0) if type(count) is int else np.maximum(count, 0)
        if type(length) is int:
            return (first if length else 0), length
        return np.where(length > 0, first, 0), length


def _cut(index, size, low, high):
    if not isinstance(index, np.ndarray) and type(size) is int:
        index = int(index)
        return min(max(index + size if index < 0 else index, low), high)
    index = np.asarray(index, np.int64)
    return np.clip(np.where(index < 0, index + size, index), low, high)


def sliced(array, parts: list, name: str, check: Callable) -> View:
    """``array[parts]``: an index for an axis, ``Bounds``, or NEW_AXIS. ``check(index, size, axis)`` counts an index from the start."""
    view = start(array)
    base, shape, strides, axis = view.base, [], [], 0
    for part in parts:
        if part is NEW_AXIS:
            shape.append(1)
            strides.append(0)
            continue
        size, stride = view.shape[axis], view.strides[axis]
        if isinstance(part, Bounds):
            first, length = part.of(size)
            shape.append(length)
            strides.append(stride * part.step)
        else:
            first = check(part, size, axis)
        base, axis = base + first * stride, axis + 1
    return replace(view, name=name, base=base, shape=(*shape, *view.shape[axis:]), strides=(*strides, *view.strides[axis:]))


def transposed(array) -> View:
    view = start(array)
    return replace(view, name=f"{array.name}.T", shape=view.shape[::-1], strides=view.strides[::-1])


def part_of(array, name: str, dtype: np.dtype, offset: int, copied: bool = False) -> View:
    """The part of every element that begins ``offset`` bytes into it: a field of records, the real part of complex numbers.

    ``copied``: byte by byte, so that it may lie anywhere.
    """
    view, inner, element = start(array), dtype.shape, dtype.base
    alignment = 1 if copied or element.names or _surely_aligned(view, offset, element.alignment) else element.alignment
    if view.space in ("shared", "local"):
        view.root.split(math.gcd(offset, element.itemsize) if offset else element.itemsize)
    within = tuple(n * element.itemsize for n in c_strides(inner))
    info = replace(
        view.info, name=f"{view.info.name}.{name}", dtype=describe("", "", element, (), 0, ()).dtype,
        shape=(*view.info.shape, *inner), address=view.info.address + offset, strides=(*view.info.strides, *within),
    )  # fmt: skip
    return View(
        view.root, f"{array.name}.{name}", element, view.base * view.step + offset, (*view.shape, *inner),
        (*(n * view.step for n in view.strides), *within), 1, info, alignment,
    )  # fmt: skip


def _surely_aligned(view: View, offset: int, alignment: int) -> bool:
    """Whether the parts at ``offset`` of all elements are, wherever the view begins."""
    return not any(n % alignment for n in (view.root.address, view.step, offset))


def retyped(array, dtype: np.dtype, site) -> View:
    """``array.view(dtype)``: the same bytes. The last axis must be without gaps if the size of an element changes."""
    view, old, new = start(array), array.dtype.itemsize, dtype.itemsize
    shape, strides = view.shape, tuple(n * view.step for n in view.strides)
    if old != new:
        if not shape or strides[-1] != old or np.any(np.remainder(shape[-1] * old, new)):
            raise UnsupportedError(f"{array.name} cannot be seen as {dtype}: its last axis is no whole number of them without gaps",
                                   site.where(), "take a part without a step, of the right length")  # fmt: skip
        if view.space == "local" and new > view.root.step:
            raise UnsupportedError(f"{array.name} is local memory, and cannot be seen as wider elements", site.where(),
                                   f"make it of {dtype}, and see it as {array.dtype}")  # fmt: skip
        shape, strides = (*shape[:-1], shape[-1] * old // new), (*strides[:-1], new)
        if any(n % new for n in strides[:-1]) and view.space == "local":
            raise UnsupportedError(f"{array.name} cannot be seen as {dtype}", site.where(), "take a part of one dimension")
    if view.space in ("shared", "local"):
        view.root.split(new)
    info = replace(view.info, dtype=str(dtype), shape=(view.root.memory_bytes // new,), strides=(new,), address=view.root.address)
    return View(view.root, array.name, dtype, view.base * view.step, shape, strides, 1, info, dtype.alignment)


def reshaped(array, shape: tuple, site) -> View:
    """``array.reshape(shape)``, one entry of which may be -1. The array has no gaps and is in C order."""
    view = start(array)
    if any(isinstance(n, np.ndarray) for n in (*shape, *view.shape)):
        raise UnsupportedError("a shape that differs between threads", site.where(), "reshape to the same shape in every thread")
    known = math.prod(n for n in shape if n != -1)
    full = tuple(view.size // known if n == -1 and known else int(n) for n in shape)
    if math.prod(full) != view.size or list(shape).count(-1) > 1 or min(full, default=1) < 0:
        sizes = f"{view.size} elements of shape {view.shape}"
        raise UnsupportedError(f"{array.name} has {sizes}, which do not fit shape {shape}", site.where(), "a shape of as many elements")
    unit = view.dtype.itemsize // view.step
    if any(n > 1 and stride != want * unit for n, stride, want in zip(view.shape, view.strides, c_strides(view.shape), strict=True)):
        raise UnsupportedError(f"{array.name} is not contiguous, and only contiguous arrays can be reshaped", site.where(),
                               "compute the index from the shape, or pass a copy")  # fmt: skip
    return replace(view, shape=full, strides=tuple(n * unit for n in c_strides(full)))


def arrays_of(value) -> tuple:
    """The arrays in an argument: itself, or those in a tuple."""
    if isinstance(value, tuple):
        return tuple(array for item in value for array in arrays_of(item))
    return (value,) if isinstance(value, (Memory, View)) else ()


