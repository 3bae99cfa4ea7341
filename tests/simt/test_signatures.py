"""Signatures of ``@cuda.jit``: types of a launch's numbers, and arrays that it takes."""

import numpy as np
import pytest

from warpwise import trace
from warpwise.errors import LaunchError
from warpwise.simt import kernels_in

SIGNED = """
import numba
from numba import cuda, float32, void, types

@cuda.jit({signature})
def kernel(x, y, a, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = x[i] * a
"""
FLOATS = "float32[:], float64[:], float32, int32"


@pytest.mark.parametrize(
    "signature",
    [
        f"'void({FLOATS})'",
        f"'({FLOATS})'",
        f"['void(f8[:], f8[:], f8, i8)', 'void({FLOATS})']",
        "'void(f4[::1], f8[::1], f4, i4)'",
        "void(float32[:], types.float64[:], float32, numba.int32)",
        "(float32[:], types.float64[::1], float32, types.int32)",
        "types.void(float32[:], types.float64[:], types.f4, types.intc), device=False",
    ],
)
def test_a_signature_says_as_what_numbers_are_taken(signature):
    """As float32, 0.1 makes the product a float32; without the signature it is a float64."""
    x, y = np.arange(4, dtype=np.float32), np.zeros(4)
    trace(kernels_in(SIGNED.format(signature=signature))["kernel"], 1, 4, x, y, 0.1, np.uint8(3))
    np.testing.assert_array_equal(y, [*(x[:3] * np.float32(0.1)), 0])
    trace(kernels_in(SIGNED.format(signature=""))["kernel"], 1, 4, x, y, 0.1, 4)
    np.testing.assert_array_equal(y, x * np.float64(0.1))


@pytest.mark.parametrize("x", [np.zeros(4), np.zeros((2, 2), np.float32), 1.5])
def test_a_signature_takes_no_other_arrays(x):
    kernel = kernels_in(SIGNED.format(signature=f"'void({FLOATS})'"))["kernel"]
    with pytest.raises(
        LaunchError,
        match=r"compiled for \(float32\[:\], float64\[:\], float32, int32\), and the launch passes",
    ):
        trace(kernel, 1, 4, x, np.zeros(4), 1, 4)


@pytest.mark.parametrize(
    "signature", ["'void('", "SOMETHING", "'void(tuple_of_things, float64[:], f4, i4)'", "7"]
)
def test_a_signature_that_cannot_be_read_changes_nothing(signature):
    y = np.zeros(4)
    trace(kernels_in(SIGNED.format(signature=signature))["kernel"], 1, 4, np.ones(4), y, 2.0, 4)
    assert y.tolist() == [2, 2, 2, 2]
