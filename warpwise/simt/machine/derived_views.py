"""The views that slices, fields, transposes and reshapes make.

Nothing is read or counted when a view is made, but its indices are checked then, as Numba's
simulator does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from warpwise.errors import UnsupportedError
from warpwise.messages import Lengths, Name, Size, TypeName, message
from warpwise.simt.machine.array_views import View, start
from warpwise.simt.machine.memory import Array, c_strides, dtype_name
from warpwise.simt.machine.site import Site
from warpwise.simt.types import DType, Value, as_array, clipped

NEW_AXIS = None


@dataclass(frozen=True)
class Bounds:
    """``start:stop:step`` of a slice; None where left out.

    ``step`` is an int, the others ints or lanes."""

    start: Value
    stop: Value
    step: int = 1

    def of(self, size: Value) -> tuple[Value, Value]:
        """Return the first index and the length on an axis of some size, cut to it as in Python."""
        forwards = self.step > 0
        low, high = (0, size) if forwards else (-1, size - 1)
        first, end = (low, high) if forwards else (high, low)
        if self.start is not None:
            first = _cut(self.start, size, low, high)
        if self.stop is not None:
            end = _cut(self.stop, size, low, high)
        count = (end - first + self.step - (1 if forwards else -1)) // self.step
        length = max(count, 0) if type(count) is int else np.maximum(count, 0)
        if type(length) is int:
            return (first if length else 0), length
        return np.where(length > 0, as_array(first), 0), length


def _cut(index: Value, size: Value, low: Value, high: Value) -> Value:
    if not isinstance(index, np.ndarray) and type(size) is int:
        index = int(index)
        return min(max(index + size if index < 0 else index, low), high)
    index = np.asarray(index, np.int64)
    return clipped(np.where(index < 0, index + size, index), low, high)


def sliced(
    array: Array, parts: list[Value], name: str, check: Callable[[Value, Value, int], Value]
) -> View:
    """Return ``array[parts]``: an index for an axis, ``Bounds``, or NEW_AXIS.

    ``check(index, size, axis)`` counts an index from the start."""
    view = start(array)
    shape: list[Value] = []
    strides: list[int] = []
    base, axis = view.base, 0
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
    rest = (*shape, *view.shape[axis:]), (*strides, *view.strides[axis:])
    return replace(view, name=name, base=base, shape=rest[0], strides=rest[1])


def transposed(array: Array) -> View:
    view = start(array)
    return replace(view, name=f"{array.name}.T", shape=view.shape[::-1], strides=view.strides[::-1])


def part_of(array: Array, name: str, dtype: DType, offset: int, copied: bool = False) -> View:
    """Return the part of every element that begins ``offset`` bytes into it.

    A field of records, or the real part of complex numbers. ``copied``: byte by byte, so that it
    may lie anywhere.
    """
    view, inner, element = start(array), dtype.shape, dtype.base
    alignment = element.alignment
    if copied or element.names or _surely_aligned(view, offset, alignment):
        alignment = 1
    within = tuple(n * element.itemsize for n in c_strides(inner))
    info = replace(
        view.info,
        name=f"{view.info.name}.{name}",
        dtype=dtype_name(element),
        shape=(*view.info.shape, *inner),
        address=view.info.address + offset,
        strides=(*view.info.strides, *within),
    )
    base, shape = view.base * view.step + offset, (*view.shape, *inner)
    strides = (*(n * view.step for n in view.strides), *within)
    label = f"{array.name}.{name}"
    cell = math.gcd(view.cell, offset, element.itemsize)
    return View(view.root, label, element, base, shape, strides, 1, info, cell, alignment)


def _surely_aligned(view: View, offset: int, alignment: int) -> bool:
    """True if the parts at ``offset`` of all elements are, wherever the view begins."""
    return not any(n % alignment for n in (view.root.address, view.step, offset))


def retyped(array: Array, dtype: DType, site: Site) -> View:
    """Return ``array.view(dtype)``: the same bytes.

    The last axis must be without gaps if the size of an element changes."""
    view, old, new = start(array), array.dtype.itemsize, dtype.itemsize
    shape, strides = view.shape, tuple(n * view.step for n in view.strides)
    if old != new:
        if not shape or strides[-1] != old or np.any(np.remainder(shape[-1] * old, new)):
            raise UnsupportedError(
                message(
                    "{array} cannot be seen as {dtype}: "
                    "its last axis is no whole number of them without gaps",
                    array=Name(array.name),
                    dtype=TypeName(dtype),
                ),
                site.where(),
                "take a part without a step, of the right length",
            )
        if view.space == "local" and new > view.root.step:
            raise UnsupportedError(
                message(
                    "{array} is local memory, and cannot be seen as wider elements",
                    array=Name(array.name),
                ),
                site.where(),
                message(
                    "make it of {wide}, and see it as {narrow}",
                    wide=TypeName(dtype),
                    narrow=TypeName(array.dtype),
                ),
            )
        shape, strides = (*shape[:-1], shape[-1] * old // new), (*strides[:-1], new)
        if any(n % new for n in strides[:-1]) and view.space == "local":
            raise UnsupportedError(
                message(
                    "{array} cannot be seen as {dtype}",
                    array=Name(array.name),
                    dtype=TypeName(dtype),
                ),
                site.where(),
                "take a part of one dimension",
            )
    info = replace(
        view.info,
        dtype=str(dtype),
        shape=(view.root.memory_bytes // new,),
        strides=(new,),
        address=view.root.address,
    )
    base, cell = view.base * view.step, math.gcd(view.cell, new)
    return View(view.root, array.name, dtype, base, shape, strides, 1, info, cell, dtype.alignment)


def reshaped(array: Array, shape: tuple[Value, ...], site: Site) -> View:
    """Return ``array.reshape(shape)``, one entry of which may be -1.

    The array has no gaps and is in C order."""
    view = start(array)
    if any(isinstance(n, np.ndarray) for n in (*shape, *view.shape)):
        raise UnsupportedError(
            "a shape that differs between threads",
            site.where(),
            "reshape to the same shape in every thread",
        )
    known = math.prod(n for n in shape if n != -1)
    full = tuple(view.size // known if n == -1 and known else int(n) for n in shape)
    if math.prod(full) != view.size or list(shape).count(-1) > 1 or min(full, default=1) < 0:
        what = message(
            "{array} has [[{size} elements of shape {old}, which do not fit shape {new}"
            "|another number of elements than the shape that is asked for]]",
            array=Name(array.name),
            size=Size(view.size),
            old=Lengths(view.shape),
            new=Lengths(shape),
        )
        raise UnsupportedError(what, site.where(), "a shape of as many elements")
    unit = view.dtype.itemsize // view.step
    axes = zip(view.shape, view.strides, c_strides(view.shape), strict=True)
    if any(n > 1 and stride != wanted * unit for n, stride, wanted in axes):
        raise UnsupportedError(
            message(
                "{array} is not contiguous, and only contiguous arrays can be reshaped",
                array=Name(array.name),
            ),
            site.where(),
            "compute the index from the shape, or pass a copy",
        )
    return replace(view, shape=full, strides=tuple(n * unit for n in c_strides(full)))
