"""Records: the elements of structured arrays. In a kernel a record stands for its place in memory, and its fields are read from there.

Address and width of an access are those of the field. A field that is not aligned within its record is refused, as the compiler does;
one that is not because records are packed behind each other is a MisalignedError where it is used. What a kernel does not hold: strings,
dates, objects.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warpwise.simt.types import ELEMENTS

MOST_LEAVES = 256


@dataclass(frozen=True)
class RecordType:
    """One record of an array in some memory space."""

    dtype: np.dtype
    space: str

    def __str__(self) -> str:
        return f"record with fields {', '.join(self.dtype.names)}"


def is_known(dtype: np.dtype) -> bool:
    """Whether a kernel can hold elements of a type: numbers, and records of a few hundred numbers."""
    if dtype.names is None:
        return dtype in ELEMENTS
    return bool(dtype.names) and _count(dtype) <= MOST_LEAVES and all(part.base in ELEMENTS for part in _parts(dtype))


def structure_of(value: object) -> object:
    """The NumPy type of a record type of Numba's, ``from_dtype(POINT)``; anything else as it is."""
    support = sys.modules.get("numba.cuda.np.numpy_support") or sys.modules.get("numba.np.numpy_support")
    known = support is not None and type(value).__name__ == "Record" and type(value).__module__.startswith("numba.")
    return support.as_dtype(value) if known else value


def _count(dtype: np.dtype) -> int:
    if dtype.subdtype:
        return math.prod(dtype.shape) * _count(dtype.base)
    return sum(_count(part) for part, *_ in dtype.fields.values()) if dtype.names else 1


def _parts(dtype: np.dtype) -> Iterator[np.dtype]:
    for part, *_ in dtype.fields.values():
        yield from _parts(part.base) if part.base.names else (part,)


def leaves(dtype: np.dtype, path: str = "", start: int = 0) -> list[tuple[str, np.dtype, int]]:
    """All numbers in a record: name, type, and bytes from the record's start."""
    found = []
    for name in dtype.names:
        part, offset = dtype.fields[name][:2]
        for i in range(math.prod(part.shape)):
            at, label = start + offset + i * part.base.itemsize, f"{path}{name}" + (f"[{i}]" if part.shape else "")
            found += leaves(part.base, f"{label}.", at) if part.base.names else [(label, part.base, at)]
    return found
