"""Which lines a verdict names for a counter over its budget, and what it advises there."""

from __future__ import annotations

import numpy as np
import pytest
from support.cells import cells
from support.lab_cases import cells as given
from support.lab_cases import hidden_cases, visible_cases
from support.wrong_answers import wrong_answer

from warpwise import cuda
from warpwise.errors import LabError
from warpwise.grading import extract
from warpwise.labs import Launch, Out, advice
from warpwise.labs.judge import judge, judge_launch

N = 64
X = np.arange(N, dtype=np.float32)


def detail(kernel, want=X, **budget) -> str:
    """Return what a verdict says of a kernel ``(x, y)`` over its budget."""
    verdict = judge_launch(kernel, Launch("64", 1, N, (X, Out(N)), (want,), budget=budget))
    assert verdict.reason.startswith("over budget"), verdict
    hidden = verdict.message.hidden()
    assert "line" not in hidden and "called" not in hidden
    return verdict.detail


@cuda.jit
def with_a_guard(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if v < 5:
            v = v + 0
        if v > 9:
            v = v + 0
        y[i] = v


def test_of_lines_that_share_a_counter_none_is_accused_alone():
    """One of the three branches is the guard, which the budget allows."""
    told = detail(with_a_guard, branches=2)
    named = [line.split(": ")[1] for line in told.splitlines()[2:]]
    assert told.splitlines()[1] == "of which" and "most of it" not in told
    assert named == ["if i < x.size:", "if v < 5:", "if v > 9:"]
    assert all(line.startswith("    2 on line ") for line in told.splitlines()[2:])


def test_a_line_over_the_budget_by_itself_is_named_alone():
    assert "most of it, 2, on\n    line" in detail(copy_and_add, shared_load_requests=0)


def test_of_an_average_the_highest_is_no_part_of_it():
    told = detail(far_and_near, sectors_per_request_load=4)
    assert "is 6;" in told and "that is an average: the highest, 8, on\n    line" in told
    assert "most of it" not in told


@cuda.jit
def far_and_near(x, y):
    i = cuda.grid(1)
    v = x[(2 * i) % 64]
    y[i] = x[i] + 0 * v


@cuda.jit
def copy_and_add(x, y):
    s = cuda.shared.array(64, np.float32)
    i = cuda.grid(1)
    s[i] = x[i]
    y[i] = s[i]


SLOW = """
@cuda.jit(device=True)
def slow(v):
    for _ in range(4):
        v = v + np.float32(0)
    return v
"""
ONCE = """
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = slow(x[i])
"""
TWICE = """
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    v = slow(x[i])
    y[i] = slow(v)
"""


def test_what_a_given_function_does_counts_for_the_line_that_calls_it():
    told = detail(cells(SLOW, ONCE)["kernel"], flops_fp32=9)
    assert "most of it, 256, on\n    line 5: y[i] = slow(x[i])" in told


def test_a_given_function_that_several_lines_call_is_named_with_them():
    told = detail(cells(SLOW, TWICE)["kernel"], flops_fp32=9)
    assert "most of it, 512, in slow, which is called on\n    line 5: v = slow(x[i])" in told
    assert told.endswith("line 6: y[i] = slow(v)") and "100" not in told


def test_a_function_of_the_students_own_cell_is_named_by_its_line():
    told = detail(cells(SLOW + TWICE)["kernel"], flops_fp32=9)
    assert "most of it, 512, on\n    line 5: v = v + np.float32(0)" in told


def test_an_exercise_has_advice_of_its_own_on_a_budget():
    budget, mine = {"branches": 2}, {"branches": "min and max choose without a branch"}
    launch = Launch("64", 1, N, (X, Out(N)), (X,), budget=budget, advice=mine)
    verdict = judge_launch(with_a_guard, launch)
    assert verdict.advice == verdict.remedy.hidden() == mine["branches"]


def test_advice_is_on_what_the_budget_names():
    with pytest.raises(LabError, match="advice on barriers, which the budget does not name"):
        Launch("64", 1, N, (X, Out(N)), (X,), advice={"barriers": "none is needed"})


NO_TILE = """
@cuda.jit
def matmul_tiled(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total
"""


def test_a_product_without_tiles_is_told_of_shared_memory():
    cases = visible_cases("09_tiling")["matmul_tiled"]
    *_, last = judge(cells(NO_TILE)["matmul_tiled"], cases)
    assert last.reason == "over budget: global_load_requests"
    assert "load a tile of them into shared memory" in last.advice == last.remedy.hidden()


def test_where_shared_memory_has_no_room_in_the_budget_it_is_not_advised():
    told = "global_load_requests", "shared_load_requests"
    launch = Launch("64", 1, N, (X, Out(N)), (X,), budget=dict.fromkeys(told, 0))
    assert "shared memory" not in judge_launch(with_a_guard, launch).advice


ALL_TILES = [
    ("12_flash_attention", "tiles_not_skipped"),
    ("19_capstone", "window_not_skipped"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("stem", "answer"), ALL_TILES)
def test_tiles_that_no_query_sees_are_told_of(stem, answer):
    wrong = wrong_answer(stem, answer)
    kernel = extract.kernel(wrong.text, wrong.exercise, given=given(stem, "given"))
    *_, shown = judge(kernel, visible_cases(stem)[wrong.exercise])
    *_, hidden = judge(kernel, hidden_cases(stem, wrong.exercise))
    for verdict in (shown, hidden):
        assert verdict.reason == wrong.reason
        assert verdict.remedy.hidden() == advice.HIDDEN_TILES
