"""Advice on a budget that a kernel's text gives: where float64 begins, and sums kept in memory."""

import math

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.labs.advice import less_of
from warpwise.labs.exercise import Launch, Out
from warpwise.labs.judge import judge_launch
from warpwise.labs.kept_in_memory import kept_in_memory
from warpwise.metrics import NUMBERS

X = np.ones((8, 32), np.float32)
HALF = 0.5


@cuda.jit
def of_a_constant(x, scale, y):
    col = cuda.threadIdx.x
    top = np.float32(-math.inf)
    y[col] = top if x[0, col] < 0.0 else x[0, col] * HALF


@cuda.jit
def of_an_argument(x, scale, y):
    col = cuda.threadIdx.x
    best = x[0, col] * scale
    y[col] = best * np.float32(2)


@cuda.jit
def of_whole_numbers(x, scale, y):
    col = cuda.threadIdx.x
    share = x[0, col] / x.shape[0]
    y[col] = share + share


@cuda.jit
def of_negative_infinity(x, scale, y):
    col = cuda.threadIdx.x
    m = -math.inf
    for row in range(x.shape[0]):
        m = max(m, x[row, col] * np.float32(scale))
    y[col] = m * m


@cuda.jit
def of_a_whole_sum(x, scale, y):
    col = cuda.threadIdx.x
    total = 0
    for row in range(x.shape[0]):
        total += x[row, col]
    y[col] = total


@cuda.jit
def kept_in_y(x, scale, y):
    col = cuda.threadIdx.x
    y[col] = np.float32(0)
    for row in range(x.shape[0]):
        y[col] = y[col] + x[row, col]


@cuda.jit
def of_a_wide_array(x, scale, y):
    col = cuda.threadIdx.x
    kept = cuda.local.array(1, np.double)
    kept[0] = x[0, col]
    y[col] = kept[0] * x[1, col]


@cuda.jit
def of_a_type_in_quotes(x, scale, y):
    col = cuda.threadIdx.x
    kept = cuda.local.array(1, "f8")
    kept[0] = x[0, col]
    y[col] = kept[0] * x[1, col]


@cuda.jit
def moves_along(x, scale, y):
    for row in range(x.shape[0]):
        at = row + cuda.threadIdx.x
        y[at % 32] += x[row, 0]


def advice_on(kernel, counter: str) -> str:
    launch = Launch("", 1, 32, (X, 2.0, Out(32)), (X[0],), rtol=1e9, budget={counter: 0})
    verdict = judge_launch(kernel, launch)
    assert verdict.reason == f"over budget: {counter}"
    assert verdict.remedy.hidden() == verdict.advice  # the text and the types alone tell it
    return verdict.advice


@pytest.mark.parametrize(
    ("kernel", "line", "told"),
    [
        (of_a_constant, "x[0, col] * HALF", "HALF: make it np.float32 where it is defined"),
        (of_an_argument, "best = x[0, col] * scale", "scale: a Python float is one"),
        (of_whole_numbers, "share = x", "x[0, col] / x.shape[0]: float32 / int64"),
        (of_a_whole_sum, "total = 0", "begin with np.float32(0)"),
        (of_a_wide_array, "np.double", "make it of np.float32"),
        (of_a_type_in_quotes, '"f8"', "make it of np.float32"),
        (of_negative_infinity, "m = -math.inf", "-math.inf: write np.float32(-math.inf)"),
    ],
)
def test_the_first_line_of_float64_is_named(kernel, line, told):
    lines = kernel.lines.items()
    number = next(n for n, text in lines if n > kernel.tree.lineno and line in text)
    advice = advice_on(kernel, "op_fp64")
    assert advice.startswith(f"float64 begins on line {number}, with ")
    assert told in advice


def test_a_sum_kept_in_memory_is_named():
    told = advice_on(kept_in_y, "global_load_requests")
    assert "loads and stores y[col] in every trip of a loop: keep it in a variable" in told


def test_an_element_that_the_loop_moves_along_is_none():
    assert kept_in_memory(moves_along, "global_load_requests") == ""
    assert kept_in_memory(kept_in_y, "shared_load_requests") == ""


def test_every_counter_of_a_budget_has_advice_that_says_something():
    launch = Launch("", 1, 32, (X, 2.0, Out(32)), (X[0],), rtol=1e9)
    t = judge_launch(of_an_argument, launch).trace
    for counter in NUMBERS:
        told = less_of(of_an_argument, launch, counter, t).open()
        assert len(told) > 20 and "bring" not in told
    assert "most of the work is" in less_of(of_an_argument, launch, "warp_instructions", t).open()


@cuda.jit
def loads_again(x, y):
    col = cuda.threadIdx.x
    for k in range(4):
        y[k, col] = x[0, col]


@cuda.jit
def loads_far_apart(x, y):
    row = cuda.threadIdx.x // 4
    for k in range(4):
        y[k, cuda.threadIdx.x] = x[row, 8 * (cuda.threadIdx.x % 4) + k]


@pytest.mark.parametrize(
    ("kernel", "told"), [(loads_again, "more than once"), (loads_far_apart, "neighbouring lanes")]
)
def test_sectors_that_are_loaded_again_are_no_matter_of_neighbours(kernel, told):
    launch = Launch("", 1, 32, (X, Out((4, 32))), (X[:4],), budget={"global_load_sectors": 4})
    t = trace(kernel, 1, 32, X, np.zeros((4, 32), np.float32))
    advice = less_of(kernel, launch, "global_load_sectors", t)
    assert told in advice.open()
    assert "neighbouring lanes" in advice.hidden()


@cuda.jit
def wide(x):
    tile = cuda.shared.array(32, np.float64)
    tile[cuda.threadIdx.x] = x[0, cuda.threadIdx.x]


@pytest.mark.parametrize(("limit", "asked"), [(128, True), (64, False)])
def test_shared_memory_of_twice_the_room_may_be_of_float64(limit, asked):
    launch = Launch("", 1, 32, (X,), (), budget={"shared_bytes_per_block": limit})
    told = less_of(wide, launch, "shared_bytes_per_block", trace(wide, 1, 32, X)).open()
    assert ("are elements of shared memory float64?" in told) is asked


@cuda.jit
def adds_alone(x):
    if cuda.threadIdx.x == 0:
        for k in range(32):
            cuda.atomic.add(x, (0, k), 1)


@cuda.jit
def adds_together(x):
    cuda.atomic.add(x, (0, cuda.threadIdx.x), 1)


@pytest.mark.parametrize(("kernel", "asked"), [(adds_alone, True), (adds_together, False)])
def test_one_lane_that_adds_in_a_loop_is_told_of_the_others(kernel, asked):
    launch = Launch("", 1, 32, (X,), (), budget={"global_atomic_requests": 0})
    told = less_of(kernel, launch, "global_atomic_requests", trace(kernel, 1, 32, X.copy())).open()
    assert ("let 32 lanes add neighbouring elements" in told) is asked
