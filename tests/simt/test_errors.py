"""Errors for every mistake: what happened, where, in which thread, and what to try."""

import re

import numpy as np
import pytest

from warpwise import errors, trace
from warpwise.errors import (
    ArithmeticFault,
    BarrierError,
    EndlessError,
    KernelTypeError,
    LaunchError,
    OutOfBoundsError,
    StepLimitError,
    UndefinedNameError,
    UnsupportedError,
    UnwrittenReadError,
)
from warpwise.simt import kernels_in

HEAD = """
import math
import numpy as np
from numba import cuda, float32
N = 64

@cuda.jit(device=True)
def again(n):
    return again(n - 1)

@cuda.jit(device=True)
def sometimes(n):
    if n > 5:
        return 1

@cuda.jit(device=True)
def nothing(n):
    n = n + 1

def plain(n):
    return n

data = open("nowhere")

@cuda.jit
def kernel(x, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
"""


def kernel_of(body: str):
    return kernels_in(HEAD + re.sub("^", "    ", body.strip("\n"), flags=re.MULTILINE), "lab.py")[
        "kernel"
    ]


def run(body: str, blocks=2, threads=64, x=None, out=None, **options):
    x = np.arange(128, dtype=np.float32) if x is None else x
    return trace(
        kernel_of(body),
        blocks,
        threads,
        x,
        np.zeros(128, np.float32) if out is None else out,
        **options,
    )


def caught(kind, body: str, **options):
    with pytest.raises(kind) as error:
        run(body, **options)
    assert type(error.value) is kind
    return error.value


# --- bounds ---


def test_out_of_bounds_names_index_array_size_line_block_and_thread():
    assert str(caught(OutOfBoundsError, "out[i + 1] = x[i]")) == (
        "index 128 is outside out, whose size there is 128\n"
        "  at lab.py:28, block (1, 0, 0), thread (63, 0, 0)\n"
        "    out[i + 1] = x[i]\n"
        "  Try: the index goes from 1 to 128 here, not from 0 on: is it one too large, or let one "
        "too far by <=? If that is not it: guard the access, or correct the index: here it must "
        "be below 128 for every thread"
    )


GUARDS = {
    "if i < out.size:\n    out[i] = x[i]": "compares i with out.size: is that the length of the",
    "if i <= x.size:\n    out[i] = x[i]": "lets i be as large as x.size: < or <=?",
    "if i < 90 or i < out.size:\n    out[i] = x[i]": "joins its conditions with or: should it be",
    "if i < x.size:\n    out[i] = x[i + 20]": "",
}


@pytest.mark.parametrize("body", GUARDS)
def test_a_guard_around_an_index_outside_is_asked_about(body: str):
    try_this = f"guard on line 28 {GUARDS[body]}" if GUARDS[body] else ""
    x = np.ones(100, np.float32)
    told = str(caught(OutOfBoundsError, body, x=x))
    assert try_this in told.replace("\n", " ")
    assert bool(try_this) == ("the guard on line" in told), told
    assert "?;" not in told


def test_what_of_an_array_is_written_and_the_guard_of_its_stores_are_told():
    body = (
        "s = cuda.shared.array(64, float32)\n{}s[t] = x[i]\ncuda.syncthreads()\nout[i] = s[63 - t]"
    )
    told = str(caught(UnwrittenReadError, body.format("if t < 20:\n    ")))
    assert "20 of the 64 elements of s are written by then: does `if t < 20` on line 29" in told
    wide = body.format("").replace("array(64", "array(80").replace("63 - t", "79 - t")
    told = str(caught(UnwrittenReadError, wide))
    assert "64 of the 80 elements of s are written by then: should each of the others" in told
    assert "are written" not in str(
        caught(UnwrittenReadError, "s = cuda.shared.array(64, float32)\nout[i] = s[t]")
    )


ROWS = """s = cuda.shared.array(640, float32)
if t < 16:
    for c in range(8):
        s[{stored} * t + c] = x[i]
cuda.syncthreads()
if t < {lanes}:
    out[i] = s[{read} * t + 7]"""
APART = {
    (10, 8, 16): "lanes read 8 elements apart, and what is written lies in runs of 8 elements that "
    "begin 10 apart: is a row as long where it is stored as where it is read?",
    (8, 10, 16): "lanes read 10 elements apart, and what is written lies as one run of 128 "
    "elements",
    (10, 10, 20): "",  # rows of which too few are stored
    (8, 8, 20): "",
}


@pytest.mark.parametrize("rows", APART)
def test_rows_that_are_read_at_another_pitch_than_they_are_stored_at_are_told(rows):
    stored, read, lanes = rows
    told = str(caught(UnwrittenReadError, ROWS.format(stored=stored, read=read, lanes=lanes)))
    assert APART[rows] in told and bool(APART[rows]) == ("elements apart" in told)
    assert bool(APART[rows]) != ("are written by then" in told)


def test_rows_of_an_array_that_nobody_stores_are_told_as_unwritten():
    told = str(caught(UnwrittenReadError, "s = cuda.shared.array(640, float32)\nout[i] = s[8 * t]"))
    assert "elements apart" not in told


OUT_OF_BOUNDS = {
    "out[i] = x[i - 129]": ("index -129 is outside x", (0, 0, 0), (0, 0, 0)),
    "out[i] = x[500]": ("index 500 is outside x", (0, 0, 0), (0, 0, 0)),
    "if i == 100:\n    out[i] = x[i * 2]": ("index 200 is outside x", (1, 0, 0), (36, 0, 0)),
    "s = cuda.shared.array(32, float32)\ns[t] = 1": (
        "index 32 is outside s",
        (0, 0, 0),
        (32, 0, 0),
    ),
    "s = cuda.local.array(40, float32)\ns[t] = 1": ("index 40 is outside s", (0, 0, 0), (40, 0, 0)),
    "s = cuda.shared.array((4, 16), float32)\ns[t // 16, t % 17] = 1": (
        "index 16 of axis 1 is outside s",
        (0, 0, 0),
        (16, 0, 0),
    ),
    "s = cuda.shared.array((4, 16), float32)\ns[t // 15, t % 16] = 1": (
        "index 4 of axis 0 is outside s",
        (0, 0, 0),
        (60, 0, 0),
    ),
    "out[i] += x[i]\nx[i + 100] += 1": ("index 128 is outside x", (0, 0, 0), (28, 0, 0)),
}


@pytest.mark.parametrize("body", OUT_OF_BOUNDS)
def test_out_of_bounds(body):
    what, block, thread = OUT_OF_BOUNDS[body]
    error = caught(OutOfBoundsError, body)
    assert error.what.startswith(what)
    assert (error.where.block, error.where.thread) == (block, thread)
    assert error.where.text == body.splitlines()[-1].strip()


LIKELY = {
    "m = cuda.shared.array((2, 64), float32)\nm[t % 64, t % 2] = 1": (
        "are two indices swapped? m[t % 2, t % 64] would be inside for every thread"
    ),
    "m = cuda.shared.array((2, 3, 64), float32)\nm[1, t % 64, t % 3] = 1": (
        "are two indices swapped? m[1, t % 3, t % 64] would be inside for every thread"
    ),
    "s = cuda.local.array(16, float32)\nfor k in range(17):\n    s[k] = 1": (
        "the loop `for k in range(17)` on line 29 runs too far: k must stay below 16"
    ),
    "m = cuda.shared.array((64, 16), float32)\nfor k in range(16 + 1):\n    m[t, k] = 1": (
        "the loop `for k in range(16 + 1)` on line 29 runs too far: k must stay below 16"
    ),
    "m = cuda.shared.array((4, 8), float32)\nm[t // 15, t % 8] = 1": (
        "is the index too large, or m too small? Here axis 0 has 4 elements, and the index goes up "
        "to 4"
    ),
    "s = cuda.shared.array(32, float32)\ns[t] = 1": (
        "is the index too large, or s too small? Here it has 32, and the index goes up to 63"
    ),
}


@pytest.mark.parametrize("body", LIKELY)
def test_an_index_out_of_bounds_has_a_likely_cause(body):
    error = caught(OutOfBoundsError, body)
    assert error.try_this.startswith(LIKELY[body])
    assert "; if that is not it, guard the access" in error.try_this
    assert error.remedy.hidden().startswith("guard the access")


@pytest.mark.parametrize(
    "body",
    [
        "m = cuda.local.array((4, 8), float32)\nm[t // 15, t % 8] = 1",  # both ways outside
        "s = cuda.local.array(32, float32)\nfor k in range(64):\n    s[k + t] = 1",
    ],
)
def test_an_index_out_of_bounds_without_a_likely_cause_gets_a_guard(body):
    assert caught(OutOfBoundsError, body).try_this.startswith("guard the access")


WORDS = """
import numpy as np
from warpwise import cuda
from warpwise.kernels.tensor_core import mma_bf16
@cuda.jit
def k(a):
    lane, zero = cuda.laneid, np.float32(0)
    word = a[{}]
    c = mma_bf16(word, word, word, word, word, word, zero, zero, zero, zero)
"""
COUNTED = {
    "lane // 4, lane % 4 + 8": "does lane % 4 + 8 count numbers? An index counts words, of two "
    "neighbours each, and axis 1 of a has 8 words for 16 numbers; if that is not it, guard",
    "lane // 4, 2 * (lane % 4) + 8": "does 2 * (lane % 4) + 8 count numbers?",
    "lane // 4 + 8, lane // 4 + 2": "does lane // 4 + 2 count numbers?",
    "lane % 4, lane // 2": "are two indices swapped? a[lane // 2, lane % 4]",
    "lane // 4, lane % 4 + 16": "guard the access",  # further than there are numbers
    "lane // 4 + 16, lane % 4 + 8": "guard the access",  # outside on another axis as well
}


@pytest.mark.parametrize("index", COUNTED)
def test_an_index_of_words_that_counts_numbers_is_asked_about(index):
    with pytest.raises(OutOfBoundsError) as error:
        trace(kernels_in(WORDS.format(index))["k"], 1, 32, np.zeros((16, 8), np.uint32))
    told = error.value.try_this
    assert COUNTED[index] in told
    assert ("count numbers" in told) == told.startswith("does ")


def test_words_are_not_asked_about_where_no_tensor_core_takes_them():
    text = WORDS.format("lane // 4, lane % 4 + 8").replace("c = mma_bf16(word", "c = max(word")
    text = text.replace(", word, word, word, word, word, zero, zero, zero, zero)", ", word)")
    with pytest.raises(OutOfBoundsError) as error:
        trace(kernels_in(text)["k"], 1, 32, np.zeros((16, 8), np.uint32))
    assert "count numbers" not in error.value.try_this


def out_of_bounds(body: str, blocks, threads, shape) -> str:
    """Return what is advised on a kernel of an array ``a`` that leaves it."""
    text = f"from numba import cuda\n@cuda.jit\ndef k(a):\n    {body}\n"
    with pytest.raises(OutOfBoundsError) as error:
        trace(kernels_in(text)["k"], blocks, threads, np.zeros(shape, np.float32))
    return error.value.try_this


def test_a_launch_that_fits_exactly_is_not_called_rounded_up():
    body = "e = cuda.grid(1)\n    a[e // 4, e % 4] = 1"
    told = out_of_bounds(body, 1, 256, (4, 64))
    assert told.startswith("are two indices swapped? a[e % 4, e // 4]")
    assert "rounded up" not in told
    body = "i = cuda.grid(1)\n    for c in range(16):\n        a[c, i] = 1"
    assert "rounded up" not in out_of_bounds(body, 2, 32, (64, 16))
    guarded = out_of_bounds("i = cuda.grid(1)\n    a[i % 4, i] = 1", 2, 32, (70, 50))
    assert "rounded up to whole blocks" in guarded


def test_numbers_of_a_block_that_are_exchanged_are_asked_about():
    body = "h, i = cuda.blockIdx.x, cuda.blockIdx.y * 4 + cuda.threadIdx.x\n    a[h, i] = 1"
    told = out_of_bounds(body, (2, 1), 4, (1, 8))
    assert told.startswith("are blockIdx.x and blockIdx.y exchanged? Axis 0 of a has 1, as many")
    assert "exchanged" not in out_of_bounds(body, (2, 1), 4, (3, 2))


def test_a_shuffle_by_its_older_name_is_given_the_newer_one():
    error = caught(UndefinedNameError, "out[i] = cuda.shfl_xor(x[i], 1)")
    assert "cuda.shfl_xor is not defined; did you mean cuda.shfl_xor_sync?" in error.what


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("cuda.shared.array(16, 16, float32)", "cuda.shared.array((16, 16), float32)"),
        ("cuda.local.array(4, 4)", "cuda.local.array((4, 4), "),
        ("cuda.shared.array(2, 4, 8, float32)", "cuda.shared.array((2, 4, 8), float32)"),
        ("cuda.shared.array(4, 4, dtype=float32)", "cuda.shared.array((4, 4), float32)"),
    ],
)
def test_a_shape_without_brackets_is_shown_with_them(call, meant):
    error = caught(UnsupportedError, f"a = {call}")
    assert "the shape is one argument" in error.what and error.try_this.startswith(meant)


def test_out_of_bounds_in_two_dimensions_of_threads():
    text = (
        "from numba import cuda\n"
        "@cuda.jit\n"
        "def k(a):\n"
        "    col, row = cuda.grid(2)\n"
        "    a[row, col] = 1\n"
    )
    with pytest.raises(
        OutOfBoundsError, match="index 6 of axis 1 is outside a, whose size there is 6"
    ) as error:
        trace(kernels_in(text)["k"], (2, 3), (4, 4), np.zeros((12, 6)))
    assert (error.value.where.block, error.value.where.thread) == ((1, 0, 0), (2, 0, 0))


def test_a_lane_that_is_not_active_may_have_any_index():
    run("if i + 1 < x.size:\n    out[i] = x[i + 1]\nif i < 0:\n    out[i] = x[10**9]")


def test_an_empty_array_has_no_element():
    assert (
        "whose size there is 0"
        in caught(OutOfBoundsError, "out[i] = x[0]", x=np.zeros(0, np.float32)).what
    )


# --- barriers ---

PARTIAL_BARRIERS = {
    "if t < 40:\n    cuda.syncthreads()": (40, 40),
    "if t % 2:\n    out[i] = 1\nelse:\n    cuda.syncthreads()": (32, 1),
    "for k in range(t):\n    cuda.syncthreads()": (63, 0),
    "k = 0\nwhile k < 3:\n    if t == 7:\n        break\n    k += 1\n    cuda.syncthreads()": (
        63,
        7,
    ),
    "if t < 32:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()": (32, 32),
}


@pytest.mark.parametrize("body", PARTIAL_BARRIERS)
def test_a_barrier_that_only_a_part_reaches(body):
    arrived, missing = PARTIAL_BARRIERS[body]
    error = caught(BarrierError, body)
    assert error.what == (
        f"only {arrived} of 64 threads of block (0, 0, 0) reach this barrier; "
        f"thread ({missing}, 0, 0) does not"
    )
    assert error.where.text == "cuda.syncthreads()"


def test_the_block_whose_barrier_is_partial_is_named():
    error = caught(BarrierError, "if cuda.blockIdx.x == 0 or t > 3:\n    cuda.syncthreads()")
    assert (
        error.what
        == "only 60 of 64 threads of block (1, 0, 0) reach this barrier; thread (0, 0, 0) does not"
    )


ALLOWED_BARRIERS = [
    # threads that have ended count as arrived, on cc 7.0 and later
    "if t >= 40:\n    return\ncuda.syncthreads()",
    "if cuda.blockIdx.x == 1:\n    cuda.syncthreads()",  # a whole block takes the branch
    "for k in range(cuda.blockIdx.x * 3):\n    cuda.syncthreads()",
    "for k in range(9):\n    if k > t:\n        return\n    cuda.syncthreads()",
]


@pytest.mark.parametrize("body", ALLOWED_BARRIERS)
def test_a_barrier_that_all_that_are_left_reach(body):
    run(body)


def test_return_from_a_device_function_does_not_end_the_thread():
    text = """
from numba import cuda
@cuda.jit(device=True)
def maybe(t):
    if t < 5:
        return
    cuda.syncthreads()
@cuda.jit
def kernel(x):
    maybe(cuda.threadIdx.x)
"""
    with pytest.raises(BarrierError, match="only 27 of 32 threads"):
        trace(kernels_in(text)["kernel"], 1, 32, np.zeros(1))


# --- variables, endless loops, arithmetic ---


def test_a_variable_without_a_value_in_some_threads():
    error = caught(UnwrittenReadError, "if t > 5:\n    v = 1\nout[i] = v")
    assert error.what.startswith("v has no value here in some threads")
    assert (error.where.thread, error.where.line) == ((0, 0, 0), 30)
    error = caught(UnwrittenReadError, "for k in range(t):\n    last = k\nout[i] = last")
    assert error.what.startswith("last has no value")
    error = caught(UnwrittenReadError, "if x[i] < 0:\n    v = 1\nout[i] = v")
    assert error.what.startswith("v has no value")


def test_a_variable_that_every_reader_has_given_a_value():
    run("if t > 5:\n    v = 1\nif t > 6:\n    out[i] = v")
    run("for k in range(3):\n    last = k\nout[i] = last")
    run("while True:\n    v = 3\n    if t > 5:\n        break\n    t += 1\nout[i] = v")


def test_an_endless_loop_is_stopped():
    error = caught(EndlessError, "while t >= 0:\n    out[i] = 1", max_steps=500)
    assert error.what == (
        "the kernel did not end within 500 steps: 128 threads are still in this loop, "
        "`while t >= 0`, first of them lanes 0-31 of warp 0 of block (0, 0, 0)"
    )
    assert error.where.text == "while t >= 0:"
    assert error.try_this == "change, in every trip, something that the loop's condition reads"
    error = caught(StepLimitError, "while t != 7:\n    t += 2 if t < 50 else 0", max_steps=500)
    assert "thread (0, 0, 0)" in str(error)
    caught(StepLimitError, "for k in range(10**18):\n    pass", max_steps=500)


@pytest.mark.parametrize(
    ("expression", "thread"),
    [("i // (i - 7)", 7), ("i % (t - 6)", 6), ("7 // 0", 0), ("np.uint32(i) % np.uint32(0)", 0)],
)
def test_integer_division_by_zero(expression, thread):
    error = caught(ArithmeticFault, f"out[i] = {expression}")
    assert "by zero" in error.what
    assert error.where.thread == (thread, 0, 0)


def test_a_guarded_division_is_none_of_our_business():
    run("if t != 6:\n    out[i] = i // (t - 6)")
    run("out[i] = i // (t - 6) if t != 6 else 0")


def test_floating_point_division_by_zero_is_infinite():
    out = np.zeros(128, np.float32)
    run("out[i] = x[i] / 0", out=out)
    assert np.isnan(out[0]) and np.isinf(out[1:]).all()


# --- outside the kernel language ---
# Statement or expression -> a part of the message, a part of the suggestion.

UNSUPPORTED = {
    "v = [1, 2]": ("[1, 2]", "tuple, or cuda.local.array"),
    "v = {1: 2}": ("{1: 2}", "arrays and integer indices"),
    "v = {1, 2}": ("{1, 2}", "arrays and integer indices"),
    "v = [k for k in range(3)]": ("[k for k in range(3)]", "write a loop"),
    "v = (w := i)": ("w := i", "line of its own"),
    "v = 'text' + 'more'": ("compute with the text 'text'", "use numbers"),
    "v = f'{i}'": ("f'{i}'", "no strings"),
    "v = 1j < 2": ("complex numbers have no order", "abs()"),
    "v = 99999999999999999999": ("constant 99999999999999999999", "use numbers"),
    "v = yield": ("yield", "array argument"),
    "v = np.zeros((3, N))": (
        "np.zeros cannot be called",
        "cuda.local.array((3, N), float32) for one thread",
    ),
    "v = np.dot(x, x)": ("np.dot cannot be called", "write a loop over the elements"),
    "v = sum(x)": ("sum cannot be called", "write a loop over the elements"),
    "v = x.sum()": ("x.sum cannot be called", "no methods"),
    "v = x.dtype + 1": ("x.dtype is an element type", "x.dtype.type(v)"),
    "v = x.base": ("no 'base'", "shape, size, ndim"),
    "v = x[1:3] + 1": ("x[1:3] is a global array", "one element of it: x[1:3][i]"),
    "v = x[::i]": ("must be a constant", "outside the kernel"),
    "x[:] = x[1:]": ("cannot be copied in one statement", "in a loop"),
    "x[1:] += 1": ("one element is needed", "loop over the elements"),
    "v = x[i, 0]": ("x has 1 dimension and is indexed with 2", "leave one out, such as x[i]"),
    "v = i @ i": ("matrix multiplication", "loop"),
    "v = i in x": ("in looks for a number in a tuple", "in a loop"),
    "v = N.shape": ("N is a number (int64) and has no attribute 'shape'", "use N as it is"),
    "i + 1": ("i + 1: a value that is not used", "value = i + 1"),
    "i == 1": ("a value that is not used", "to assign, i = 1"),
    "cuda.syncthreads": ("a value that is not used", "add brackets: cuda.syncthreads()"),
    "again": ("a value that is not used", "again(...)"),
    "return i": ("a kernel returns nothing", "array argument"),
    "try:\n    pass\nexcept ValueError:\n    pass": ("try has no meaning", "if"),
    "with x:\n    pass": ("with has no meaning", "context managers"),
    "import os": ("import has no meaning", "top of the file"),
    "from os import path": ("from has no meaning", "top of the file"),
    "global N": ("global has no meaning", "arguments"),
    "del i": ("del has no meaning", "leave the line out"),
    "class A:\n    pass": ("class has no meaning", "arrays"),
    "for v in i:\n    pass": ("runs over range(...)", "for i in range(i):"),
    "for x[0] in range(3):\n    pass": ("counts with one name", "for i in range(n)"),
    "for k in range(0, 3, 0):\n    pass": ("step 0", "not 0"),
    "a, b = 1, 2, 3": ("cannot unpack a tuple of 3 into 2", "unpack 2 values"),
    "a, b = cuda.grid(1)": ("cannot unpack a number (int64) into 2", "cuda.grid(2) gives 2"),
    "x.y = 3": ("cannot assign to x.y", "out[i] = ..."),
    "v = (1, 2.5)[t]": ("indexed by a constant", "from 0 to 1"),
    "v = x if t > 3 else out\nv[i] = 1": (
        "stands for x in some threads and for out in others",
        "between elements",
    ),
    "v = x\nif t > 3:\n    v = out\nv[i] = 1": (
        "stands for out in some threads and for x in others",
        "between elements",
    ),
    "v = again(i)": ("before it is known what it returns", "first return a value"),
    "v = math.sqrt(1, 2)": ("takes 1 argument here, not 2", "math.sqrt(a)"),
    "v = pow(i, 2, 3)": ("takes 2 arguments here, not 3", "pow(a, b)"),
    "v = min(x)": ("two or more numbers", "loop over the array"),
    "v = max(i, t, key=abs)": ("plain positional arguments", "leave key= out"),
    "cuda.atomic.add(x, 0)": (
        "cuda.atomic.add takes 3 plain arguments",
        "cuda.atomic.add(array, index, value)",
    ),
    "v = cuda.shfl_sync(-1, i)": ("takes 3 arguments", "cuda.shfl_sync(mask, value, src_lane)"),
    "v = cuda.threadIdx + 1": ("cuda.threadIdx has three parts", "cuda.threadIdx.x, .y or .z"),
    "v = cuda.threadIdx[0]": ("cuda.threadIdx has three parts", "cuda.threadIdx.x, .y or .z"),
    "v = cuda.threadIdx.x()": ("cuda.threadIdx.x is a number", "without ()"),
    "v = cuda.grid + 1": ("cuda.grid is a function", "cuda.grid(1)"),
    "v = cuda.shared((4, 4), float32)": (
        "cuda.shared is neither a function",
        "cuda.shared.array(shape, dtype)",
    ),
    "cuda.barrier()": ("cuda.barrier is not known", "syncthreads"),
    "v = cuda.grid(4)": ("1, 2 or 3", "i = cuda.grid(1), or x, y = cuda.grid(2)"),
    "v = cuda.grid()": ("1, 2 or 3", "i = cuda.grid(1), or x, y = cuda.grid(2)"),
    "v = cuda.grid(t)": ("t must be a constant", "use a number"),
    "cuda.syncthreads(1)": ("takes no arguments", "cuda.syncthreads()"),
    "v = cuda.shared.array(t, float32)": ("t must be a constant", "a number"),
    "v = cuda.shared.array((0, 4), float32)": ("positive integers", "above 0"),
    "v = cuda.shared.array(2.5, float32)": ("positive integers", "// divides integers"),
    "v = cuda.shared.array((N, 9))": ("a shape and a dtype", "cuda.shared.array((N, 9), float32)"),
    "v = cuda.local.array(dtype=np.int8)": (
        "a shape and a dtype",
        "cuda.local.array(shape, np.int8), with numbers",
    ),
    "v = cuda.shared.array([32, 33], float32)": (
        "[32, 33] must be a constant",
        "round brackets: (32, 33)",
    ),
    "v = cuda.shared.array(float32, (4, 8))": (
        "the shape comes first",
        "cuda.shared.array((4, 8), float32)",
    ),
    "v = cuda.local.array(8, float)": ("Python's own type", "float32, for example"),
    "v = x.view(int)": ("int is Python's own type, and Numba takes no", "float32, for example"),
    "v = cuda.shared.array(8, object)": ("object is not an element type", "float32, for example"),
    "v = cuda.shared.array(10**9, float32)": (
        "larger than any GPU's shared memory",
        "at most 12,288 elements of float32",
    ),
    "v = cuda.local.array(10**6, float32)": (
        "larger than the 16,384 bytes",
        "at most 4,096 elements of float32",
    ),
    "v = x(i)": ("x cannot be called", "square brackets take an element: x[i]"),
    "v = 2 * i(t + 1)": ("i cannot be called", "operator such as *"),
    "v = i[0]": ("i is a number (int64) and cannot be indexed", "without [ ]"),
    "v = x.shape[1]": ("a constant within its length", "an index from 0 to 0"),
    "v = data": ("data is not a plain constant outside the kernel", "pass data as an argument"),
    "v = data[i]": ("data is not a plain constant outside the kernel", "pass data as an argument"),
    "v = plain(i)": ("plain is not a device function", "@cuda.jit(device=True) above def plain"),
    "v = sometimes(i, t)": ("sometimes(n) is called with 2 arguments", "call it as sometimes(n)"),
}


@pytest.mark.parametrize("body", UNSUPPORTED)
def test_what_is_no_kernel_language_is_refused_with_its_line(body):
    what, try_this = UNSUPPORTED[body]
    with pytest.raises((UnsupportedError, KernelTypeError)) as error:
        run(body)
    assert what in error.value.what
    assert try_this in error.value.try_this
    assert error.value.try_this and error.value.where.text


# Undefined names: statement -> the name that is meant, spelled right.
MISSPELLED = {
    "row = 1\nout[i] = rwo": "row",
    "row = 1\nout[i] = Row": "row",
    "out[ii] = 1": "i",
    "ouput = 1\nout[i] = output": "ouput",  # codespell:ignore
    "oot[i] = 1": "out",
    "v = somtimes(i)": "sometimes",  # codespell:ignore
    "for k in rnage(3):\n    pass": "range",  # codespell:ignore
    "v = threadIdx.x": "cuda.threadIdx",
    "v = blokIdx.y": "cuda.blockIdx",
    "syncthreads()": "cuda.syncthreads",
    "v = cuda.treadIdx.x": "cuda.threadIdx.x",
    "v = cuda.threadidx.y": "cuda.threadIdx.y",
    "cuda.syncthread()": "cuda.syncthreads",
    "cuda.sync_threads()": "cuda.syncthreads",
    "v = cuda.shared.aray(4, float32)": "cuda.shared.array",  # codespell:ignore
    "v = x.shpae[0]": "x.shape",  # codespell:ignore
    "v = math.sqr(2.0)": "math.sqrt",
    "v = np.hypott(2.0, 1.0)": "np.hypot",
    "v = np.nothing_like_it(2)": None,
    "v = math.nothing": None,
    "v = cuda.shared.array(4, int32)": "np.int32",
    "v = cuda.shared.array(4, flaot32)": "float32",
    "v = cuda.shared.array((4, M), float32)": None,
    "v = nowhere": None,
    "start = 1\nv = strat": "start",  # codespell:ignore
    "X[i] = 1": "x",
    "v = inf": "math.inf",
    "v = exp(1.0)": "math.exp",
    "v = lane": None,
    "v = tot": None,
    "v = size": None,
    "v = n": None,
    "v = dta": None,
    "v = mok": None,
}


@pytest.mark.parametrize("body", MISSPELLED)
def test_a_misspelled_name_is_told_with_the_one_that_is_meant(body):
    error, meant = caught(UndefinedNameError, body), MISSPELLED[body]
    assert error.what.endswith(
        f" is not defined; did you mean {meant}?" if meant else " is not defined"
    )
    assert error.try_this.startswith(f"write {meant}") if meant else error.try_this


def test_a_name_without_a_value_is_advised_where_values_come_from():
    error = caught(UndefinedNameError, "out[i] = lane")
    assert error.try_this == (
        "give it a value on a line above, as from x.shape, or define it above the kernel"
    )


def test_a_name_is_told_by_the_name_that_its_module_has_here():
    text = "from warpwise import cuda as gpu\nimport numpy as nump\n@gpu.jit\ndef k(out):\n    "
    for line, meant in {
        "out[threadIdx.x] = 1": "gpu.threadIdx",
        "s = gpu.local.array(3, float64)": "nump.float64",
    }.items():
        with pytest.raises(UndefinedNameError, match=f"did you mean {meant}\\?"):
            trace(kernels_in(text + line)["k"], 1, 1, np.zeros(1))


def test_a_module_that_was_not_imported():
    text = "from numba import cuda\n@cuda.jit\ndef k(out):\n    out[0] = np.pi\n"
    with pytest.raises(UndefinedNameError, match="Try: import numpy as np at the top of the file"):
        trace(kernels_in(text)["k"], 1, 1, np.zeros(1))


def test_a_variable_that_has_no_value_yet():
    error = caught(UndefinedNameError, "v = later\nlater = 1")
    assert (error.what, error.try_this) == (
        "later may be used before it has a value",
        "give later a value on every path to this line",
    )
    assert (
        "cuda.threadIdx.w is not defined" in caught(UndefinedNameError, "v = cuda.threadIdx.w").what
    )


def test_more_indices_than_dimensions():
    text = "from numba import cuda\n@cuda.jit\ndef k(a):\n    row, col = cuda.grid(2)\n    "
    for line in ("a[row, col, 1] = 1", "v = a[row, col, :]"):
        with pytest.raises(
            UnsupportedError,
            match=r"a has 2 dimensions and is indexed with 3\n(.|\n)*such as a\[row, col\]",
        ):
            trace(kernels_in(text + line)["k"], 1, 1, np.zeros((2, 2)))


def test_every_error_is_in_the_tree():
    kinds = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert set(re.findall(r"\w+(?:Error|Fault)\b", errors.__doc__)) == kinds
    assert all(getattr(errors, name).__doc__ for name in kinds)


# --- places ---


def test_a_line_of_a_cell_goes_by_the_function_that_the_cell_defines():
    text = "from numba import cuda\n@cuda.jit(device=True)\ndef far(a, i):\n    return a[i + 9]\n"
    text += "@cuda.jit\ndef k(a):\n    a[0] = far(a, 1)\n    a[1] = 1 / b\n"
    with pytest.raises(
        UndefinedNameError, match=r"  at line 8 of the cell that defines k\n    a\[1\] = 1 / b\n"
    ):
        trace(kernels_in(text)["k"], 1, 1, np.zeros(4))
    for first_line, place in (
        (1, "line 4 of the cell that defines far"),
        (-3, "far, which an earlier cell defines"),
    ):
        with pytest.raises(OutOfBoundsError) as error:
            trace(
                kernels_in(text.replace("/ b", "/ 2"), "your cell", first_line)["k"],
                1,
                1,
                np.zeros(4),
            )
        assert f"\n  at {place}, block (0, 0, 0), thread (0, 0, 0)\n    return a[i + 9]\n" in str(
            error.value
        )


def test_text_that_is_not_python_is_told_with_its_line():
    with pytest.raises(UnsupportedError, match=r"your cell is not Python: .* on line 12"):
        kernels_in("a = 1\nb = = 2\n", "your cell", first_line=11)


TYPES = {
    "v = x + 1": (
        "x is a global array of float32, 1D; a number is needed here",
        "one element of it: x[i]",
    ),
    "v = x.shape + 1": ("x.shape is a tuple of 1; a number is needed here", "x.shape[0]"),
    "v = nothing(i)\nout[i] = v + 1": (
        "v is None; a number is needed here",
        "nothing returns nothing: end it with return ...",
    ),
    "out[i] = 1 + nothing(i)": (
        "nothing(i) is None; a number is needed here",
        "nothing returns nothing: end it with return ...",
    ),
    "v = cuda.syncthreads() + 1": (
        "cuda.syncthreads() is None",
        "cuda.syncthreads returns nothing: call it on a line of its own",
    ),
    "out[i] = nothing(i)": (
        "None cannot be stored in an array",
        "nothing returns nothing: end it with return ...",
    ),
    "v = nothing(i)\nout[i] = v": (
        "None cannot be stored in an array",
        "nothing returns nothing: end it with return ...",
    ),
    "v = x[i / 2]": ("an index must be an integer, not float64", "// divides integers: i // 2"),
    "k = i / 2\nv = x[k]": (
        "an index must be an integer, not float64",
        "int(k), or // instead of /",
    ),
    "v = x[2.5]": ("an index must be an integer, not float64", "int(2.5), or //"),
    "v = 2.5 & 1": ("integers are needed, not float64 and int64", "and, or"),
    "v = ~2.5": ("~ needs an integer", "not"),
    "for k in range(2j):\n    pass": ("range() needs integers, not complex128", "int(2j.real)"),
    "for k, v in enumerate(x, i / 2):\n    pass": (
        "enumerate() starts at an integer, not float64",
        "i // 2",
    ),
    "x[i] = (1, 2)": ("a tuple of 2 cannot be stored in an array", "store one number: x[i] = ..."),
    "v = x\nif t > 3:\n    v = 1\nx[0] = v": (
        "v is int64 on one path and global array of float32, 1D on another",
        "use two variables",
    ),
    "x[0] = x[i] if t > 3 else x": (
        "float32 on one path and global array of float32, 1D on another",
        "use two variables",
    ),
    "def either(y, n):\n    if n > 5:\n        return y\nv = either(x, i)": (
        "either returns global array of float32, 1D on one path and None on another",
        "end every path of either with return ...",
    ),
}


@pytest.mark.parametrize("body", TYPES)
def test_types_that_do_not_go_together(body):
    what, try_this = TYPES[body]
    error = caught(KernelTypeError, body)
    assert what in error.what
    assert try_this in error.try_this


# --- launches ---


@pytest.mark.parametrize(
    ("blocks", "threads", "what"),
    [
        (1, 1025, "1,025 threads; a block can have at most 1,024"),
        (1, (32, 33), "1,056 threads"),
        (1, (1, 1, 65), "larger than the limit (1024, 1024, 64)"),
        ((1, 65536), 32, "larger than the limit"),
        (0, 32, "at least 1"),
        (1, 0, "at least 1"),
        (1, -32, "at least 1"),
        (1.5, 32, "blocks must be an integer"),
        (1, "32", "threads must be an integer"),
        ((1, 1, 1, 1), 32, "one to three integers"),
        ((), 32, "one to three integers"),
        (True, 32, "blocks must be an integer"),
    ],
)
def test_a_launch_that_a_gpu_refuses(blocks, threads, what):
    with pytest.raises(LaunchError) as error:
        run("pass", blocks=blocks, threads=threads)
    assert what in str(error.value)


def test_too_much_shared_memory():
    body = "a = cuda.shared.array((64, 64), float32)\nb = cuda.shared.array((64, 65), np.float64)"
    assert str(caught(LaunchError, body)) == (
        "lab.py:29: b brings the block to 49,664 bytes of shared memory; a block has 49,152. "
        "Use smaller shapes or fewer arrays"
    )


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_a_type_s_range_are_infinite_without_a_warning_of_numpy_s():
    out = np.zeros(128, np.float32)
    run("out[0] = np.float32(1e39)\nout[1] = np.float32(1e300 * i)", out=out)
    assert out[0] == np.inf
