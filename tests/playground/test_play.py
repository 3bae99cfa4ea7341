"""Kernel and launch as the playground runs them: what is shown, marked, compared and counted."""

from __future__ import annotations

import pytest

from warpwise.metrics import Metrics
from warpwise.playground import play
from warpwise.playground.difference import change, difference

KERNEL = """\
import numpy as np

from warpwise import cuda, trace


@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]
"""
LAUNCH = """\
x = np.arange(64.0)
y = np.zeros_like(x)
expected = 2 * x
trace(double, 2, 32, x, y)
"""
STRIDED = KERNEL.replace("cuda.grid(1)", "8 * cuda.grid(1)")


def one(kernel: str = KERNEL, launch: str = LAUNCH) -> dict:
    (shown,) = play({"kernel": kernel, "launch": launch})["kernels"]
    return shown


@pytest.mark.parametrize("end", ["", ".show()"])
def test_a_launch_is_shown_in_tabs_and_its_result_compared(end: str):
    shown = one(launch=LAUNCH.rstrip() + end)
    assert shown["html"].count("<ww-tabs") == 1
    assert "double, traced" in shown["html"]
    assert shown["verdict"] == "y is as expected."
    assert shown["marks"] == [] and shown["error"] == ""


@pytest.mark.parametrize(("factor", "said"), [(2, "y is as expected."), (3, "y[1] should be 3")])
def test_a_result_in_device_memory_is_compared_as_well(factor: int, said: str):
    device = LAUNCH.replace("np.zeros_like(x)", "cuda.to_device(np.zeros(64))")
    shown = one(launch=device.replace("2 * x", f"{factor} * x"))
    assert shown["verdict"].startswith(said)


def test_another_value_at_the_end_is_shown_as_it_is():
    launch = LAUNCH.replace("trace(", "traced = trace(") + "traced.metrics.global_load_requests"
    assert one(launch=launch)["value"] == "2"


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("3 * x", "y[1] should be 3 and is 2; 63 of 64 elements are wrong"),
        ("x[:8]", "y has shape (64,), expected (8,)"),
        ("'two'", "expected cannot be compared with y"),
        ("2 * x + 1e-12", "y is as expected."),
        ("None", ""),
        ("max", ""),
    ],
)
def test_a_result_that_differs_is_described(expected: str, said: str):
    verdict = one(launch=LAUNCH.replace("= 2 * x", f"= {expected}"))["verdict"]
    assert said in verdict if said else verdict == ""


def test_an_expectation_that_cannot_be_asked_is_said():
    odd = "class Odd:\n    def __array__(self, *_, **__): raise RuntimeError('odd')\n"
    verdict = one(KERNEL + odd, LAUNCH.replace("= 2 * x", "= Odd()"))["verdict"]
    assert verdict == "expected cannot be compared with y: odd"


@pytest.mark.parametrize(
    ("kernel", "launch", "cell", "line", "said"),
    [
        (KERNEL.replace("< x", "<= x"), LAUNCH.replace("2, 32", "3, 32"), "kernel", 10, "OutOfBo"),
        (KERNEL.replace("2 * x[i]", "2 *"), LAUNCH, "kernel", 10, "SyntaxError"),
        (KERNEL + "\n1 / 0\n", LAUNCH, "kernel", 12, "ZeroDivisionError"),
        (KERNEL, LAUNCH.replace("np.zeros_like", "np.nothing"), "launch", 2, "AttributeError"),
        (KERNEL, LAUNCH.replace("2, 32,", "2, 2048,"), "launch", 4, "LaunchError"),
        (KERNEL, LAUNCH.replace("(double", "(double,,"), "launch", 4, "SyntaxError"),
    ],
)  # fmt: skip
def test_an_error_marks_its_line_in_its_cell(kernel, launch, cell, line, said):
    shown = one(kernel, launch)
    assert shown["error"].startswith(said)
    (mark,) = shown["marks"]
    assert (mark["cell"], mark["line"], mark["kind"]) == (cell, line, "error")


def test_a_race_marks_both_its_lines():
    kernel = KERNEL.replace("        y[i] = 2 * x[i]", "        y[0] = x[i]\n    y[i] = y[0]")
    marks = one(kernel)["marks"]
    assert {(mark["cell"], mark["line"], mark["kind"]) for mark in marks} >= {
        ("kernel", 10, "race"),
        ("kernel", 11, "race"),
    }
    assert all(
        "nothing orders the two" in mark["text"] and "Try:" in mark["text"] for mark in marks
    )


def test_a_race_of_a_trace_with_a_name_is_marked_too():
    launch = LAUNCH.replace("trace(", "traced = trace(") + "len(traced.races)"
    shown = one(KERNEL.replace("y[i] =", "y[0] ="), launch)
    assert {mark["line"] for mark in shown["marks"]} == {10}


def test_two_kernels_have_one_launch_and_their_counters_are_compared():
    told = play({"kernel": KERNEL, "launch": LAUNCH, "other": STRIDED})
    assert [shown["verdict"][:5] for shown in told["kernels"]] == ["y is ", "y[1] "]
    rows = {name: values for name, *values in told["difference"]}
    assert rows["global store bytes"] == ["512", "64", "8 times less"]


def test_what_is_equal_is_left_out_of_the_difference():
    assert difference(Metrics(barriers=3), Metrics(barriers=3)) == []
    rows = difference(Metrics(op_control=3), Metrics(op_control=4))
    assert ("control operations", "3", "4", "+33.3%") in rows


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (4, 5, "+25.0%"),
        (4, 3, "-25.0%"),
        (4, 10, "2.5 times as much"),
        (32, 1, "32 times less"),
        (0, 1, "from nothing"),
        (1, 0, "to nothing"),
    ],
)
def test_a_change_is_said_in_words(before: float, after: float, said: str):
    assert change(before, after) == said
