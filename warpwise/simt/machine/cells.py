"""Parts of elements: a field of a record, half of a complex number, the same bytes as another type.

Their memory is read and written by byte. Knowledge about it (who wrote it, who touched it since the
last barrier) is kept by *cells*: elements, or smaller pieces where a part of an element can be
written alone.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise.simt.types import DType, Lanes, Value, as_index


def smallest_part(dtype: DType) -> int:
    """Return the bytes of which all parts that can be written alone are whole multiples."""
    if dtype.subdtype:
        return smallest_part(dtype.base)
    if dtype.fields is None:
        return dtype.itemsize
    fields = dtype.fields.values()
    return math.gcd(
        dtype.itemsize,
        *(offset for _, offset, *_ in fields),
        *(smallest_part(part) for part, *_ in fields),
    )


def gathered(raw: Lanes, at: Value, dtype: DType) -> Value:
    """Return elements from bytes, of the shape of ``at``; quick if at multiples of their size."""
    width = dtype.itemsize
    if not isinstance(at, np.ndarray):
        return raw[at : at + width].view(dtype)[0]
    if not (at % width).any():
        return raw[: raw.size // width * width].view(dtype).take(as_index(at // width))
    return raw[at[..., None] + np.arange(width, dtype=np.int64)].view(dtype)[..., 0]


def scattered(raw: Lanes, at: Lanes, value: Value, dtype: DType) -> None:
    """Write elements to bytes; where several lanes name one place, the highest lane's stays."""
    width = dtype.itemsize
    at, value = np.broadcast_arrays(at, np.asarray(value, dtype))
    if not (at % width).any():
        raw[: raw.size // width * width].view(dtype)[at // width] = value
    else:
        value = np.ascontiguousarray(value)[..., None].view(np.uint8)
        raw[at[..., None] + np.arange(width, dtype=np.int64)] = value
