"""Patterns in what functions return: units, quotients upside down, counts, codes, equal inputs."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from warpwise.labs import Call
from warpwise.labs.calls import judge_call
from warpwise.labs.causes import words_of
from warpwise.labs.patterns import Failure, find
from warpwise.labs.unused import ends_early

RNG = np.random.default_rng(3)
TABLE = RNG.uniform(1, 9, (4, 3))
CODES = np.array([0, 1, 2, 3, 2, 3, 1, 0])
PLAIN = frozenset({"np"})


def found(got, want, **known) -> str:
    """Return what is seen in a wrong value, and its causes."""
    got, want = np.asarray(got), np.asarray(want)
    wrong = ~np.isclose(got, want, rtol=1e-6, atol=0)
    pattern = find(Failure("r", got, want, wrong, words=PLAIN, rtol=1e-6, **known))
    return "\n".join((pattern.seen, *pattern.causes[:2])) if pattern else ""


def with_column(column: int, values: np.ndarray) -> np.ndarray:
    made = TABLE.copy()
    made[:, column] = values
    return made


def two_columns(times: float, other: float) -> np.ndarray:
    return TABLE * np.array([times, 1.0, other])


CASES = {
    "no percentage": (
        with_column(2, TABLE[:, 2] / 100),
        TABLE,
        "wrong: the last column only; each wrong one is 0.01 times what it should be, a power of "
        "ten\nis a unit changed once too often, or not at all: a percentage",
    ),
    "one element in another unit": (
        [1.0, 2.0, 3e9],
        [1.0, 2.0, 3.0],
        "the last element only; each wrong one is 1e+09 times",
    ),
    "a factor of some": (
        [2.0, 6.0, 3.0],
        [1.0, 3.0, 3.0],
        "wrong: the first 2 elements, 0 to 1; each wrong one is 2 times what it should be",
    ),
    "a quotient upside down": (
        with_column(2, 100 / TABLE[:, 2]),
        TABLE,
        "each wrong one is 100 divided by what it should be\nis a quotient upside down there",
    ),
    "columns by their own factors": (
        two_columns(2, 1e-3),
        TABLE,
        "column 0 is 2 times what it should be, column 2 is 0.001 times what it should be; all "
        "others are right",
    ),
    "another code": (
        np.where(CODES == 2, 1, CODES),
        CODES,
        "each wrong one is 1 and should be 2\nwhat sets those that should be 2 apart",
    ),
    "codes exchanged": (
        np.array([0, 1, 3, 2, 3, 2, 1, 0]),
        CODES,
        "2 stands where 3 should, and 3 where 2 should",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_pattern_is_found_where_it_was_made(name: str):
    got, want, told = CASES[name]
    assert told in found(got, want)


def test_no_factor_is_told_of_numbers_that_have_none():
    assert "times" not in found([2.0, 7.0, 3.0], [1.0, 3.0, 3.0])
    assert "power of ten" not in found([1.0, 2.0, 6.0], [1.0, 2.0, 3.0])
    assert "times" not in found(with_column(1, TABLE[::-1, 1] * 2), TABLE)


def test_a_size_that_is_left_out_is_told_by_its_product():
    sizes = {"n": 64, "d": 32, "item_bytes": 4}
    assert "256 too small, which is 4 * n\n" in found(0, 256, inputs=sizes)
    assert "16384 too small, which is 4 * n * n\n" in found(0, 16384, inputs=sizes)
    due = {"the third result": np.array(33024)}
    told = found(41472, 8448, inputs=sizes, due=due)
    assert "33024 too large, which is the third result\nis the third result counted in r" in told


def test_a_count_is_told_by_its_difference():
    told = found(15, 11)
    assert told.startswith("it is 4 too large") and "rounded" not in told


def test_equal_inputs_are_named_where_only_they_are_wrong():
    a, b = np.array([2.0, 5.0, 1.0]), np.array([2.0, 4.0, 1.0])
    got, want = np.array([0.0, 7.0, 0.0]), np.array([3.0, 7.0, 2.5])
    told = found(got, want, inputs={"a": a, "b": b})
    assert told.startswith("the wrong ones are those where a and b are equal\nwhat is done where")
    before = ({"a": a, "b": a},)
    assert "are equal" not in found(got, want, inputs={"a": a, "b": b}, before=before)


def test_a_number_that_changed_with_a_length_is_named_beside_it():
    before = ({"x": np.ones((40, 2)), "cap": 1000.0},)
    got = RNG.normal(size=(83, 2))
    now = {"x": np.ones((83, 2)), "cap": 5.0}
    told = found(got, got + RNG.normal(size=got.shape), inputs=now, before=before)
    assert "right where cap is 1000 and x.shape[0] is 40" in told
    assert "what does cap do in the formula" in told


def test_a_backward_pass_is_not_told_of_maxima_and_divisions():
    words = frozenset({"exp", "inf", "where"})
    zeros, due = np.zeros(5), RNG.normal(size=5)
    sums = {"L": RNG.normal(size=5)}
    wrong = Failure("dq", zeros, due, due != 0, words=words, inputs=sums)
    pattern = find(wrong)
    assert pattern is not None and "does the loop make a trip" in pattern.causes[0]


@pytest.mark.parametrize(
    ("due", "told"),
    [
        ({"m": 4}, "m is wrong too: look first at what both are made of"),
        ({"m": 4, "d": 4}, "m and d are wrong too: look first at what all of them are made of"),
        ({}, ""),
    ],
)
def test_several_wrong_outputs_are_looked_at_together(due, told):
    others = {name: np.ones(size) for name, size in due.items()}
    wrong = Failure("o", np.zeros(4), np.ones(4), np.ones(4, bool), due=others)
    assert wrong.right_too == told


def test_the_least_value_for_its_index_is_told_as_such():
    call = Call("", (np.array([3.0, 1.0]),), np.array([1]), labels=(0,))
    verdict = judge_call(lambda x: np.array([x.min()]), call)
    assert "np.argmin gives the index" in verdict.advice


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("for x in a:\n        t += x\n        return t", "return"),
        ("while a:\n        break", "break"),
        ("for x in a:\n        if x: return x", ""),
    ],
)
def test_a_loop_that_ends_in_its_first_step_is_asked_about(text: str, word: str):
    (tree,) = ast.parse(f"def f(a):\n    t = 0\n    {text}").body
    assert isinstance(tree, ast.FunctionDef)
    assert ends_early(tree).startswith(f"a {word} stands in a loop" if word else "")
    assert bool(ends_early(tree)) == bool(word)


def test_words_tell_conditions_and_whole_quotients():
    assert {"if", "//"} <= words_of(ast.parse("x // 2 if x > 1 else 0"))
    assert words_of(ast.parse("x / 2")) == {"x", "/"}
