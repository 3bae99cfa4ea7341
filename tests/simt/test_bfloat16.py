"""``widen`` and ``narrow``: numbers that memory keeps in bfloat16, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import KernelTypeError
from warpwise.kernels.bfloat16 import from_bfloat16, narrow, to_bfloat16, widen

N = 256


@cuda.jit
def doubled(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = narrow(widen(x[i]) + widen(x[i]), y)


@cuda.jit
def from_the_first(x, y):
    y[cuda.grid(1)] = narrow(widen(x[0]), y)


def some(kind: str) -> np.ndarray:
    """Return numbers of all sizes, some of which nobody can compute with."""
    found = np.random.default_rng(0).integers(0, 2**32, N, dtype=np.uint32)
    found[:6] = 0x7F800000, 0xFF800000, 0x7FC00001, 0, 0x80000000, 1
    found[6:9] = 0x3F808000, 0x3F818000, 0x3F808001  # ties, and just above one
    found = found.view(np.float32)
    return to_bfloat16(found) if kind == "uint16" else found


def as_float32(array: np.ndarray) -> np.ndarray:
    return from_bfloat16(array) if array.dtype == np.uint16 else array


@pytest.mark.parametrize("into", ["uint16", "float32"])
@pytest.mark.parametrize("source", ["uint16", "float32"])
def test_one_kernel_takes_both_kinds_of_array(source: str, into: str):
    x, y = some(source), np.zeros(N, into)
    m = trace(doubled, 2, N // 2, x, y).metrics
    with np.errstate(all="ignore"):
        want = as_float32(x) + as_float32(x)
    want = to_bfloat16(want) if into == "uint16" else want
    assert np.array_equal(as_float32(y), as_float32(want), equal_nan=True)
    assert m.global_load_bytes == 2 * N * x.itemsize and m.global_store_bytes == N * y.itemsize
    assert m.op_conversion == N * (2 * (source == "uint16") + (into == "uint16"))


def test_what_is_the_same_for_all_lanes_is_rounded_as_well():
    x, y = np.float32([1.00390625 + 2.0**-9]), np.zeros(32, np.uint16)
    trace(from_the_first, 1, 32, x, y)
    assert set(from_bfloat16(y)) == {np.float32(1.0078125)}
    trace(from_the_first, 1, 32, to_bfloat16(x), out := np.zeros(32, np.float32))
    assert set(out) == {np.float32(1.0078125)}


@pytest.mark.parametrize("kind", ["int32", "float64", "float16"])
def test_anything_else_is_refused(kind: str):
    with pytest.raises(KernelTypeError, match=rf"x\[i\] is .*{kind}"):
        trace(doubled, 1, 32, np.zeros(32, kind), np.zeros(32, np.uint16))
    with pytest.raises(KernelTypeError, match="bfloat16 as uint16: to_bfloat16 makes it"):
        trace(doubled, 1, 32, np.zeros(32, np.float32), np.zeros(32, kind))
