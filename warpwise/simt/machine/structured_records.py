"""Records: the elements of structured arrays.

In a kernel a record stands for its place in memory, and its fields are read from there. Address and
width of an access are those of the field. A field that is not aligned within its record is refused,
as by the compiler; one that is misaligned because records are packed is a MisalignedError where it
is used. A kernel cannot hold strings, dates or objects."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warpwise.simt.types import ELEMENTS, KernelType

MOST_LEAVES = 256


@dataclass(frozen=True)
class RecordType(KernelType):
    """One record of an array in some memory space."""

    dtype: np.dtype
    space: str

    def __str__(self) -> str:
        return f"record with fields {', '.join(self.dtype.names)}"


def is_known(dtype: np.dtype) -> bool:
    """Return True if a kernel can hold elements of a type: numbers, or records of a few hundred."""
    if dtype.names is None:
        return dtype in ELEMENTS
    small = bool(dtype.names) and _count(dtype) <= MOST_LEAVES
    return small and all(part.base in ELEMENTS for part in _parts(dtype))


def structure_of(value: object) -> object:
    """Return the NumPy type of Numba's ``from_dtype(POINT)``; any other value as it is."""
    names = "numba.cuda.np.numpy_support", "numba.np.numpy_support"
    support = next(filter(None, map(sys.modules.get, names)), None)
    kind = type(value)
    if support is None or kind.__name__ != "Record" or not kind.__module__.startswith("numba."):
        return value
    return support.as_dtype(value)


def _count(dtype: np.dtype) -> int:
    if dtype.subdtype:
        return math.prod(dtype.shape) * _count(dtype.base)
    return sum(_count(part) for part, *_ in dtype.fields.values()) if dtype.names else 1


def _parts(dtype: np.dtype) -> Iterator[np.dtype]:
    for part, *_ in dtype.fields.values():
        yield from _parts(part.base) if part.base.names else (part,)


def leaves(dtype: np.dtype, path: str = "", start: int = 0) -> list[tuple[str, np.dtype, int]]:
    """Return all numbers in a record: name, type, and bytes from the record's start."""
    found = []
    for name in dtype.names:
        part, offset = dtype.fields[name][:2]
        for i in range(math.prod(part.shape)):
            at = start + offset + i * part.base.itemsize
            label = f"{path}{name}[{i}]" if part.shape else f"{path}{name}"
            if part.base.names:
                found += leaves(part.base, f"{label}.", at)
            else:
                found.append((label, part.base, at))
    return found
