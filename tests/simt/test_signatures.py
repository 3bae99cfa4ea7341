"""Signatures of ``@cuda.jit``: types of a launch's numbers, and arrays that it takes."""

import ast

import numba
import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import KernelTypeError, LaunchError, LaunchTypeError, UndefinedNameError
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


@pytest.mark.parametrize("signature", ["SOMETHING", "7"])
def test_a_signature_that_cannot_be_followed_changes_nothing(signature):
    y = np.zeros(4)
    trace(kernels_in(SIGNED.format(signature=signature))["kernel"], 1, 4, np.ones(4), y, 2.0, 4)
    assert y.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("signature", "said"),
    [
        ("'void('", r"'void\(' cannot be read"),
        ("'void(tuple_of_things, float64[:], f4, i4)'", "tuple_of_things is no type"),
        ("'void(flaot32[:])'", r"did you mean float32\?"),  # codespell:ignore
        ("'int32'", "int32 is a type, and a signature is"),
        ("'void(float32[3])'", r"arrays are written float32\[:, :\]"),
        ("'void(UniTuple(UniTuple(f4, 1000), 1000))'", "at most 1,024 items"),
    ],
)
def test_a_bad_signature_is_refused(signature, said):
    """In a text once the kernel is used; by ``cuda.jit`` when it decorates, as Numba does it."""
    kernel = kernels_in(SIGNED.format(signature=signature))["kernel"]
    with pytest.raises(KernelTypeError, match=said) as error:
        trace(kernel, 1, 4, np.ones(4), np.zeros(4), 2.0, 4)
    assert error.value.where.line == 5
    with pytest.raises(TypeError, match=said):
        cuda.jit(ast.literal_eval(signature))(by_width)


BOUND = """
import numba
from numba import cuda, float32, void, types

TEXT = 'void(int32[:], int32)'
TYPES = void(types.int32[:], types.int32)
PAIR = (types.int32[:], types.int32)
SEVERAL = ['void(int32[:], int64, int64)', PAIR]
NUMBER = types.int32
BY_PARTS = void(NUMBER[:], NUMBER)
AGAIN = [AGAIN]

@cuda.jit({signature})
def kernel(x, n):
    x[0] = cuda.clz(n)

def plain(x, n):
    x[0] = cuda.clz(n)

called = cuda.jit({signature})(plain)
"""


@pytest.mark.parametrize("signature", ["TEXT", "TYPES", "PAIR", "SEVERAL", "BY_PARTS", "[TEXT]"])
def test_a_text_names_its_signatures(signature):
    for name in ("kernel", "called"):
        x = np.zeros(1, np.int32)
        trace(kernels_in(BOUND.format(signature=signature))[name], 1, 1, x, 1)
        assert x[0] == 31


def test_a_signature_that_leads_to_itself_is_not_followed():
    x = np.zeros(1, np.int32)
    trace(kernels_in(BOUND.format(signature="AGAIN"))["kernel"], 1, 1, x, 1)
    assert x[0] == 63


# --- of functions: what cuda.jit is called with ---


def by_width(x, n):
    x[0] = cuda.clz(n)


BY_NAME = "void(int32[:], int32)"


@cuda.jit(BY_NAME)
def decorated_by_name(x, n):
    x[0] = cuda.clz(n)


@pytest.mark.parametrize(
    "kernel",
    [
        decorated_by_name,
        cuda.jit(BY_NAME)(by_width),
        cuda.jit(numba.void(numba.int32[:], numba.int32))(by_width),
        cuda.jit((numba.int32[::1], numba.int32))(by_width),
        cuda.jit(["(i4[:], i8, i8)", "(i4[:], i4)"])(by_width),
    ],
)
def test_a_signature_counts_wherever_it_stands(kernel):
    x = np.zeros(1, np.int32)
    kernel[1, 1](x, 1)
    assert x[0] == 31


def test_a_kernel_with_a_signature_is_compiled_when_it_is_decorated():
    with pytest.raises(UndefinedNameError, match="nowhere"):

        @cuda.jit("void(float32[:])")
        def kernel(x):
            x[0] = nowhere(x[1])  # noqa: F821


def test_of_several_signatures_the_one_that_fits_best_is_taken():
    kernel = cuda.jit(["(i4[:], i4)", "(i4[:], i8)"])(by_width)
    for n, wanted in ((np.int32(1), 31), (np.int64(1), 63), (1, 63)):
        x = np.zeros(1, np.int32)
        kernel[1, 1](x, n)
        assert x[0] == wanted, n
    assert len(kernel.overloads) == 2


def test_two_signatures_that_fit_equally_well_are_ambiguous():
    def total(x, a, b):
        x[0] = a + b

    kernel = cuda.jit(["(f8[:], f4, f8)", "(f8[:], f8, f4)", "(f8[:], i8, i8)"])(total)
    with pytest.raises(LaunchTypeError, match=r"float32, float64.* and .*fit .* equally well"):
        kernel[1, 1](np.zeros(1), 1.0, 2.0)


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1.5, r"argument n is a float64.*int32.*Try: int\(n\)"),
        (1j, "compiled for"),
        ((1,), "passes"),
    ],
)
def test_a_launch_makes_no_integer_of_a_float(n, said):
    with pytest.raises(TypeError, match=said):
        decorated_by_name[1, 1](np.zeros(1, np.int32), n)


def test_an_array_with_gaps_does_not_fit_one_without():
    kernel = cuda.jit("void(int32[::1], int32)")(by_width)
    with pytest.raises(LaunchTypeError, match=r"compiled for \(int32\[::1\], int32\)"):
        kernel[1, 1](cuda.to_device(np.zeros(4, np.int32))[::2], 1)


def test_the_items_of_a_tuple_are_converted():
    def items(x, pair):
        x[0] = pair[0] * pair[1]

    x = np.zeros(1)
    cuda.jit("(f8[:], UniTuple(f4, 2))")(items)[1, 1](x, (0.1, 0.2))
    assert x[0] == np.float32(0.1) * np.float32(0.2)


def test_a_kernel_with_a_result_is_refused():
    with pytest.raises(LaunchTypeError, match="must have void return type"):
        cuda.jit("int32(int32[:], int32)")(by_width)


# --- of device functions ---


def added(signature):
    """Return a kernel that adds two numbers by a device function of that signature."""
    add = cuda.jit(signature, device=True)(lambda a, b: a + b)

    @cuda.jit
    def kernel(x, a, b):
        x[0] = add(a, b)

    def result(a, b):
        x = np.zeros(1)
        kernel[1, 1](x, a, b)
        return x[0]

    return result


def test_a_device_function_takes_and_returns_what_its_signature_says():
    assert added("int64(int64, int64)")(1.5, 2.5) == 3
    assert added("int32(float64, float64)")(1.5, 2.75) == 4
    assert added(["(int64, int64)", "(float64, float64)"])(np.int32(1), 2.5) == 3.5
    assert added("float32(float32, float32)")(0.1, 0.2) == np.float32(0.1) + np.float32(0.2)


def test_a_device_function_is_not_called_with_what_its_signature_cannot_take():
    with pytest.raises(KernelTypeError, match=r"compiled for \(int64, int64\).*complex128"):
        added("int64(int64, int64)")(1j, 1)


def test_a_device_function_in_a_text_has_its_signature_too():
    text = """
from numba import cuda

half = cuda.jit('int32(int32)', device=True)(lambda v: v / 2)

@cuda.jit('int64(int64, int64)', device=True)
def add(a, b):
    return a + b

@cuda.jit
def kernel(x):
    x[0] = add(1.5, 2.5)
    x[1] = half(7.9)
"""
    x = np.zeros(2)
    trace(kernels_in(text)["kernel"], 1, 1, x)
    assert x.tolist() == [3, 3]
