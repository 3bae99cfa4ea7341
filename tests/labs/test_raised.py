"""Errors that Python and NumPy raise in a host function: what to try, and where they come from."""

from __future__ import annotations

import linecache
import math
from types import FunctionType

import numpy as np
import pytest

from warpwise.labs import Call
from warpwise.labs.calls import judge_call
from warpwise.labs.raised import ADVICE

V, M = np.arange(3.0), np.ones((3, 4))
#: the body of a function of a vector v and a matrix m -> words of what to try
BODIES = {
    "return max(v, v)": r"np.maximum(a, b) takes the larger number of each pair",
    "return min(v, v)": r"np.minimum(a, b) takes the smaller number of each pair",
    "return v if v > 1 else m": "if needs a single one: np.where",
    "return v > 1 and v < 2": "write (a > 0) & (a < 9)",
    "return bool(v)": ".any() or .all()",
    "return math.exp(v)": "functions of math take a single number",
    "return range(v.astype(int))": "a single whole number is needed here",
    "return np.concatenate(v.astype(int), v.astype(int))": "one list: np.concatenate([a, b])",
    "return v[v[1]]": "is it a value, where its index is meant, or a quotient?",
    "return v[3 / 3]": "// gives whole numbers",
    "return v[v]": "is it a value, where its index is meant",
    "return v[0 : 4 / 2]": "// gives whole numbers",
    "return np.zeros(3.0)": "// gives whole numbers",
    "return [0] * v[1]": "// gives whole numbers",
    "return np.bincount(v)": "astype(np.int64)",
    "return v[3]": "the last element has the number length - 1",
    "return [1, 2][2]": "the last element has the number length - 1",
    "return v.sum(axis=1)": "fewer axes",
    "return v[0, 1]": "fewer axes",
    "i = np.arange(3)\n    i += 0.5": "write a = a + b in place of a += b",
    "return math.exp(1000)": "subtract the maximum before exp",
    "return math.log(0)": "what is it taken of here",
    "return 1 / 0": "the divisor is 0 here",
    "return 1 // 0": "the divisor is 0 here",
    "return set(m)": "tuple(a.tolist())",
    "return v.sort()[0]": "a function without return gives None",
    "return list(3)": "a single number, where several are expected",
    "return len(v[0])": "a single number, where several are expected",
    "x, y = v": "count the names on the left",
    "return v(1)": "write x[i] for an element",
    "return np.zeros(3, 4)": "np.zeros((3, 4))",
    "return v.reshape(2, 2)": "as many elements",
    "v[0] = m[0]": "a single place gets several numbers",
    "return v[:0].max()": "there are no elements here",
    "return max([])": "there are no elements here",
    "return v[np.ones(4, bool)]": "as long as the axis",
    "return v + m": "keepdims=True or [:, None]",
    "return np.concatenate([v, m])": "print the shapes",
    "return [1].shape": "make an array of it first",
    "return v.exp()": "np.exp(a), not a.exp()",
    "return np.maxx(v)": "compare its spelling",
    "return np.uint32(-1)": "does not fit into that type",
    "return v & 1": "whole numbers on both sides",
    "print(late)\n    late = 1": "give it one before the loop or the if",
    "return f(v, m)": "a case in which it does not",
}


def function(text: str, names: dict, file: str) -> FunctionType:
    """Define the last function of a text, as a cell of its own does."""
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    found = list(names.values())[-1]
    assert isinstance(found, FunctionType)
    return found


def of(body: str) -> FunctionType:
    names = {"np": np, "math": math}
    return function(f"def f(v, m):\n    {body}\n    return v\n", names, f"<{body}>")


@pytest.mark.parametrize("body", BODIES)
def test_an_error_of_numpy_or_python_says_what_to_try(body: str):
    verdict = judge_call(of(body), Call("", (V, M), V))
    assert verdict.reason == "raised an error"
    assert BODIES[body] in verdict.advice, (verdict.detail, verdict.advice)


def test_each_advice_is_met():
    met = {judge_call(of(body), Call("", (V, M), V)).advice for body in BODIES}
    assert {advice for _, advice in ADVICE} <= met


def test_an_error_of_its_own_gets_no_advice():
    verdict = judge_call(of("raise ValueError('n is odd')"), Call("", (V, M), V))
    assert verdict.advice == ""
    assert "raised ValueError: n is odd" in verdict.detail


def test_what_goes_wrong_in_a_function_of_another_cell_is_told_with_its_name():
    names = {"np": np}
    function("\ndef helper(x):\n    e = np.exp(x)\n    return e / e.sum()\n", names, "<cell 1>")
    mine = function("def mine(x):\n    return helper(x)\n", names, "<cell 2>")
    wrong = judge_call(mine, Call("", (np.array([1000.0, 0.0]),), np.array([1.0, 0.0])))
    assert "on lines 3 and 4 of helper: subtract the maximum" in wrong.advice
    raised = judge_call(mine, Call("", ("a",), 1.0))
    assert raised.detail.endswith(
        "\n    line 2: return helper(x)\n    line 3 of helper: e = np.exp(x)"
    )


def test_a_line_of_the_function_itself_comes_before_a_helpers():
    names = {"np": np}
    function("def helper(x):\n    return 1 / x\n", names, "<cell 1>")
    mine = function("def mine(x):\n    return 1 / x + helper(x)\n", names, "<cell 2>")
    wrong = judge_call(mine, Call("", (np.array([0.0, 1.0]),), np.array([1.0, 0.0])))
    assert wrong.advice.startswith("line 2 divides by 0 here")


def pair(values):
    return values[1], values[0]


def turned(values):
    return values[1], values[2], values[0]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            pair,
            "the first result of pair is what the second should be, and the second what the first",
        ),
        (
            turned,
            "result of turned is what the second should be, the second what the third should be",
        ),
    ],
)
def test_right_results_in_another_order_are_told_as_such(answer, told):
    given = tuple(np.arange(3.0) + n for n in range(3))
    want = given[: 2 if answer is pair else 3]
    verdict = judge_call(answer, Call("", (given,), want))
    assert told in verdict.detail
    assert "exchange them in the return" in verdict.advice
    assert verdict.message.hidden() == "" and "exchange" not in verdict.remedy.hidden()


def place(number, columns):
    return number % columns, number // columns


def shuffled(number, columns):
    return (1, 0) if (number, columns) == (1, 4) else (0, 0)


@pytest.mark.parametrize(("answer", "asked"), [(place, True), (shuffled, False)])
def test_an_exchange_is_advised_only_if_it_makes_all_cases_right(answer, asked):
    """Results that are exchanged in one case may be so by chance."""
    cases = [Call("", (n, 4), (n // 4, n % 4)) for n in (1, 7)]
    verdict = judge_call(answer, cases[0], cases)
    assert not verdict.passed and ("exchange them in the return" in verdict.advice) == asked
