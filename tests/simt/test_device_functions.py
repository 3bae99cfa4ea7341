"""Device functions that call themselves, and functions within functions that are passed on."""

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import UnsupportedError
from warpwise.simt import kernels_in


@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit("int64(int64)", device=True)
def signed(n):
    return signed(n - 1) + 2 if n > 0 else 0


@cuda.jit(device=True)
def halved(n):
    """The first return is an integer, and the result a float."""
    if n < 1:
        return 1
    return halved(n - 1) / 2


@cuda.jit(device=True)
def forever(n):
    if n < 0:
        return n
    return forever(n) + 1


def applied(function, count=10):
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = function(cuda.grid(1))

    out = np.zeros(count)
    trace(kernel, 1, count, out)
    return out.tolist()


@pytest.mark.parametrize(
    ("function", "want"),
    [
        (fibonacci, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]),
        (signed, [2 * n for n in range(10)]),
        (halved, [0.5**n for n in range(10)]),
    ],
)
def test_a_device_function_can_call_itself(function, want):
    assert applied(function) == want


def test_recursion_without_end_overflows_the_stack():
    with pytest.raises(UnsupportedError, match=r"forever calls itself more often(.|\n)*or a loop"):
        applied(forever)


def test_a_text_can_recurse_too():
    text = """
from numba import cuda

@cuda.jit(device=True)
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)

@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    out[i] = power(2.0, i)
"""
    out = np.zeros(5)
    trace(kernels_in(text)["kernel"], 1, 5, out)
    assert out.tolist() == [1, 2, 4, 8, 16]


@cuda.jit(device=True)
def once(function, *arguments):
    return function(*arguments)


@cuda.jit(device=True)
def twice(function, value):
    return once(function, once(function, value))


@cuda.jit
def passes_functions_on(out):
    i = cuda.grid(1)
    step, base = 10 * i, 0.5

    def more(value):
        return value + step + base

    def same(value):
        return value

    out[i] = twice(more, 6) if i > 1 else once(same, 3)


def test_a_function_within_a_kernel_takes_its_variables_along():
    out = np.zeros(4)
    trace(passes_functions_on, 1, 4, out)
    assert out.tolist() == [3, 3, 47, 67]
