"""Functions, types, words and constants that are known before the launch, and what may be None.

Expected values are worked out by hand, by Numba's rules."""

import math
import operator
from enum import Enum, IntEnum

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import KernelTypeError, LaunchError, UnsupportedError
from warpwise.simt import kernels_in

DEBUG = False


class Side(Enum):
    LEFT = 1
    RIGHT = 2


class Point(Enum):
    NEAR = (1.0, 2.0)
    FAR = (30.0, 40.0)


class Level(IntEnum):
    LOW = 3
    HIGH = 7


class Other(IntEnum):
    THREE = 3


@cuda.jit(device=True)
def applied(function, *values):
    return function(*values)


@cuda.jit(device=True)
def positive(v):
    if v > 0:
        return v
    return None


@cuda.jit(device=True)
def passed_on(v):
    return positive(v)


@cuda.jit(device=True)
def or_zero(v):
    return 0 if v is None else v


@cuda.jit(device=True)
def half_as_much(n):
    if n < 1:
        return 8
    return half_as_much(n - 1) / 2


def filled(kernel, *args, size=8):
    out = np.zeros(size)
    trace(kernel, 1, size, *args, out)
    return out.tolist()


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (operator.sub, 4),
        (operator.floordiv, 3),
        (operator.lt, 0),
        (max, 6),
        (math.copysign, 6),
        (np.maximum, 6),
    ],
)
def test_a_closure_may_hold_any_function_of_numbers(function, wanted):
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = function(6, 2)

    assert filled(kernel) == [wanted] * 8


def test_functions_types_and_words_are_arguments_of_device_functions():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        applied(cuda.atomic.add, out, 0, 2)
        if i == 1:
            out[1] = applied(math.sqrt, 16.0)
            out[2] = applied(np.int32, 3.75)
            out[3] = applied(operator.neg, 5)
            out[4] = applied(applied, operator.mul, 6, 7)

    assert filled(kernel) == [16, 4, 3, -5, 42, 0, 0, 0]


def test_text_is_an_argument_and_chooses_a_branch():
    @cuda.jit(device=True)
    def read(mode, x):
        return x[1] if mode == "array" else x

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = read("array", x) + read("number", i)

    assert filled(kernel, np.full(2, 0.5)) == [0.5 + i for i in range(8)]


def test_an_array_behind_a_functions_other_arguments_is_known_to_be_written():
    @cuda.jit
    def kernel(out):
        applied(store, 3, out)

    @cuda.jit(device=True)
    def store(value, array):
        array[0] = value

    assert trace(kernel, 2, 1, np.zeros(1)).races


def test_types_and_words_have_short_names():
    real = np.float32

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        d, e = x.dtype, real
        tile = cuda.shared.array(8, d)
        own = cuda.local.array(1, e)
        b, t = cuda.blockIdx, cuda.threadIdx
        own[0] = e(i) + d.type(2.75)
        tile[t.x] = own[0] + b.x
        out[i] = tile[t.x]

    assert filled(kernel, np.ones(1, np.int16)) == [2.0 + i for i in range(8)]


def test_sizes_are_computed_of_literals_and_kept_in_names():
    width = 2

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        n = 2 * 4
        shape = (n, width)
        tile = cuda.shared.array(shape, np.float32)
        own = cuda.local.array(n, np.int32)
        tile[i, 1] = i
        own[i] = 5
        out[i] = tile[i, 1] + own[i] + tile.shape[0] * tile.shape[1]

    assert filled(kernel) == [21 + i for i in range(8)]


def test_a_branch_that_is_known_not_to_be_taken_has_no_types():
    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if DEBUG:
            out[i] = nothing_of_this_name  # noqa: F821
        if x.ndim == 2:
            out[i] = x[0, i]
        if len(y) == 3 or (DEBUG and x.nothing):
            out[i] = y[2]
        elif not DEBUG:
            out[i] += 1

    assert filled(kernel, np.ones(4), (1, 2)) == [1] * 8
    assert filled(kernel, np.full((2, 8), 5.0), (1, 2, 9)) == [9] * 8


def test_an_inner_functions_variable_is_no_constant_of_the_kernel():
    n = 3

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)

        def five():
            n = 5
            return n

        out[i] = five() + (10 if n == 3 else 20) + (DEBUG and out.nothing)

    assert filled(kernel) == [15] * 8


def test_a_name_may_change_its_type_where_nobody_reads_it_after_paths_meet():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        v = x
        out[i] = v[0]
        v = 3
        out[i] += v
        if i > 3:
            v = x
        for k in range(3):
            v = x
            out[i] += v[k]

    assert filled(kernel, np.arange(3.0)) == [6] * 8


def test_a_loop_may_read_what_an_earlier_trip_has_set():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        for k in range(3):
            if k > 0:
                total = total + k  # noqa: F821
                out[i] = total
            else:
                total = 0.5

    assert filled(kernel) == [3.5] * 8


def test_a_device_function_may_return_a_number_or_none():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        v = passed_on(i - 3)
        w = None
        if i < 2:
            w = i + 0.5
        if v is not None:
            out[i] = v + 1
        else:
            out[i] = or_zero(w) - or_zero(v)

    assert filled(kernel) == [0.5, 1.5, 0, 0, 2, 3, 4, 5]


def test_a_number_that_is_none_is_an_error_that_names_the_thread():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = positive(i)

    with pytest.raises(KernelTypeError) as error:
        filled(kernel)
    assert "out[i] = ... is None in this thread" in error.value.what
    assert error.value.where.thread == (0, 0, 0)
    assert "is not None" in error.value.try_this


def test_a_function_may_call_itself():
    """What it returns is a float, which the first path does not show."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = half_as_much(i)

    assert filled(kernel) == [8 / 2**i for i in range(8)]


def test_calls_without_an_end_are_refused():
    @cuda.jit(device=True)
    def more(n):
        if n < 0:
            return 0
        return more(n + 1)

    @cuda.jit
    def kernel(out):
        out[0] = more(0)

    with pytest.raises(UnsupportedError, match="more calls itself more often than"):
        filled(kernel)


def test_members_of_enumerations_are_values_and_arguments():
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        side = Side.LEFT if i < 4 else Side["RIGHT"]
        out[i] = 100 * (a == b) + 10 * (a is b) + side.value
        if side is Side.RIGHT and a != b:
            out[i] += Point.FAR.value[1] + Level.HIGH + Level.LOW.value

    assert filled(kernel, Side.LEFT, Side.LEFT) == [111] * 4 + [112] * 4
    assert filled(kernel, Point.NEAR, Point.FAR) == [1] * 4 + [52] * 4
    assert filled(kernel, Level.LOW, Other.THREE) == [101] * 4 + [102] * 4


def test_text_defines_enumerations_too():
    text = """
import enum
from numba import cuda
class Side(enum.Enum):
    LEFT = 1
    RIGHT = LEFT + 1
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    side = Side.RIGHT if i > 3 else Side.LEFT
    out[i] = side.value
"""
    assert filled(kernels_in(text)["kernel"]) == [1] * 4 + [2] * 4


def test_is_compares_values_of_one_type():
    @cuda.jit
    def kernel(flag, out):
        i = cuda.grid(1)
        out[i] = (flag is True) + 2 * (i is i) + 4 * (i is True)

    assert filled(kernel, np.True_) == [3] * 8


def test_the_bits_of_a_number_can_be_seen_and_counted():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = np.float32(1 + i).view(np.int32) + (i + 7).bit_count()

    bits = np.arange(1, 9, dtype=np.float32).view(np.int32)
    assert filled(kernel) == [int(b) + (7 + i).bit_count() for i, b in enumerate(bits)]


def test_bits_are_seen_in_a_type_of_the_same_size():
    @cuda.jit
    def kernel(out):
        out[0] = out[0].view(np.int32)

    with pytest.raises(KernelTypeError, match="a number of 8 bytes is seen as int32"):
        filled(kernel)


def bits_of_a_third(out):
    third = out[0] * 0.3 + 1
    out[0] = third.view(np.int32)


def bits_of_a_maximum(out):
    most = max(out[0], -127)
    third = most - np.float32(1)
    out[0] = third.view(np.int32)


def bits_of_a_sum(out):
    out[0] = (out[0].view(np.int32) + 1).view(np.float32)


@pytest.mark.parametrize(
    ("function", "mend"),
    [
        (bits_of_a_third, r"write np.float32\(0.3\) in third = out\[0\] \* 0.3 \+ 1, where"),
        (bits_of_a_maximum, r"write np.float32\(-127\) in most = max\(out\[0\], -127\), where"),
        (bits_of_a_sum, r"np.int32\(out\[0\].view\(np.int32\) \+ 1\).view\(np.float32\): a sum"),
    ],
)
def test_a_number_that_has_grown_unseen_is_told_from_where(function, mend):
    with pytest.raises(KernelTypeError, match=mend):
        cuda.jit(function)[1, 1](np.ones(1, np.float32))


def test_ndindex_gives_all_indices_in_c_order():
    @cuda.jit
    def kernel(x, out):
        for a, b in np.ndindex(2, 3):
            out[3 * a + b] = 10 * a + b
        for p in np.ndindex(x.shape):
            cuda.atomic.add(out, 6, x[p])

    assert filled(kernel, np.ones((2, 2)), size=7) == [0, 1, 2, 10, 11, 12, 28]


def test_what_text_cannot_be_is_said():
    @cuda.jit
    def kernel(out):
        out[0] = "text" * 3

    with pytest.raises(UnsupportedError, match="compute with the text 'text'"):
        filled(kernel)
    with pytest.raises(LaunchError):
        filled(kernel, object())
