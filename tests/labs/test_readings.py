"""An exercise's own readings: a wrong answer is told which it follows, if its numbers say so."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda
from warpwise.labs import Call, InOut, Launch, Out
from warpwise.labs.calls import judge_call
from warpwise.labs.judge import judge_launch

SQUARE = "the sides are added, not multiplied"
EDGE = "the border is left out"
N = 70
X = np.random.default_rng(3).normal(size=N).astype(np.float32)


def areas(width, height):
    """The area of each rectangle."""
    return width * height


def call(readings, want=None):
    """A case of ``areas`` with some readings."""
    width, height = np.array([2, 3, 5, 7]), np.array([3, 3, 4, 1])
    wanted = areas(width, height) if want is None else want(width, height)
    return Call("four", (width, height), wanted, readings=readings)


def told(function, case) -> str:
    """Return what a student reads of a wrong answer."""
    verdict = judge_call(function, case)
    assert not verdict.passed
    return f"{verdict.detail}\n{verdict.advice}"


def test_a_wrong_answer_is_told_which_reading_it_follows():
    text = told(lambda w, h: w + h, call({SQUARE: lambda w, h: w + h}))
    assert (
        f"this is what comes out if {SQUARE}" in text
        and "compare it with what the exercise asks" in text
    )


def test_a_reading_may_be_its_result():
    assert SQUARE in told(lambda w, h: w + h, call({SQUARE: np.array([5, 6, 9, 8])}))


@pytest.mark.parametrize(
    "readings",
    [
        {SQUARE: lambda w, h: w + h + 1},
        {SQUARE: lambda w, h: w * h},  # no reading at all: it is right
        {SQUARE: np.array([5, 6, 9])},
        {},
    ],
)
def test_another_result_is_not_said_to_be_a_reading(readings):
    assert "this is what comes out" not in told(lambda w, h: w + h, call(readings))


def test_a_reading_that_explains_some_of_the_wrong_elements_is_not_told():
    first = {SQUARE: np.array([0, 9, 20, 7])}
    assert "this is what comes out" not in told(lambda w, h: 0 * w, call(first))
    assert SQUARE in told(lambda w, h: w * h * (w > 2), call(first))


def test_two_readings_at_once_are_both_told_and_so_are_two_with_one_result():
    first, last = np.array([0, 9, 20, 7]), np.array([6, 9, 20, -7])
    both = told(lambda w, h: np.array([0, 9, 20, -7]), call({SQUARE: first, EDGE: last}))
    assert f"{SQUARE}, and {EDGE}" in both
    either = told(lambda w, h: first, call({SQUARE: first, EDGE: first}))
    assert f"{SQUARE}, or if {EDGE}" in either


def test_a_reading_of_one_number_and_of_a_tuple():
    number = Call("one", (3,), 1.5, rtol=1e-9, readings={SQUARE: lambda n: 2 * n})
    assert SQUARE in told(lambda n: 6.0, number)
    several = {SQUARE: lambda n: (9, 2 * n)}
    two = Call("two", (3,), (9, 27), readings=several)
    assert SQUARE in told(lambda n: (9, 6), two)
    assert SQUARE not in told(lambda n: (9, 7), two)


def test_a_reading_may_have_another_shape():
    case = call({SQUARE: lambda w, h: w[:, None] * h})
    assert SQUARE in told(lambda w, h: w[:, None] * h, case)


def test_arrays_that_a_reading_changes_are_its_own():
    def in_place(w, h):
        w += h
        return w

    case = call({SQUARE: in_place})
    assert SQUARE in told(lambda w, h: w + h, case)
    assert SQUARE in told(lambda w, h: w + h, case)


@cuda.jit
def doubled(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]
        y[i] = y[i] + x[i]


def test_a_launch_has_readings_of_each_output():
    start = np.ones(N, np.float32)
    launch = Launch(
        "n",
        3,
        32,
        (X, InOut(start), Out(N)),
        (start + 2 * X, 2 * X),
        rtol=1e-5,
        readings={SQUARE: lambda x, y: (y + x, 3 * x)},
    )
    verdict = judge_launch(doubled, launch)
    assert verdict.reason == "wrong result"
    assert SQUARE in verdict.detail
    # what the numbers say is the owner's alone
    assert SQUARE not in verdict.message.hidden() + verdict.remedy.hidden()


def test_a_hidden_call_says_nothing_of_its_readings():
    verdict = judge_call(lambda w, h: w + h, call({SQUARE: lambda w, h: w + h}))
    assert SQUARE not in verdict.message.hidden() + verdict.remedy.hidden()


def test_two_readings_at_once_do_not_explain_truth_values():
    def kept():
        return np.array([False, False, True, True])

    want = np.array([True, True, True, True])
    readings = {"one is left out": np.array([False, True, True, True])}
    readings["the other is left out"] = np.array([True, False, True, True])
    told = judge_call(kept, Call("", (), want, readings=readings)).detail
    assert "this is what comes out" not in told
