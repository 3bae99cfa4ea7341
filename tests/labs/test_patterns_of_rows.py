"""Patterns of what rows have besides their sums: constants, labels, logarithms, other outputs."""

from __future__ import annotations

import ast
import math
from math import nan

import numpy as np
import pytest

from warpwise import cuda
from warpwise.labs import Call, Launch
from warpwise.labs.calls import judge_call
from warpwise.labs.causes import TERMS, is_of_lanes, where_missing
from warpwise.labs.differences import EXTRA, MISSING, USED, Difference
from warpwise.labs.looked import Looked
from warpwise.labs.narrowed import FORMULA, LANES, Ruled, narrowed
from warpwise.labs.patterns import Failure, constants, find, place
from warpwise.labs.patterns.failure import MASKED, RESCALED
from warpwise.labs.repairs import told as quoted
from warpwise.labs.small_changes import changes

RNG = np.random.default_rng(5)
X = RNG.normal(size=(9, 21))
LSE = np.logaddexp.reduce(X, 1)
MARKS = np.array([3, -100, 0, 7, -100, 1, 2, 5, -100])
LOSS = np.where(MARKS < 0, 0, LSE - X[np.arange(9), np.maximum(MARKS, 0)])
WORDS = frozenset({"exp", "max", "log"})


def seen(got, want, name="loss", **known) -> str:
    """Return what is seen in a wrong output, and its causes."""
    fields = {"inputs": {"x": X, "labels": MARKS}, "tile": (128,), "rtol": 1e-5, "words": WORDS}
    wrong = ~np.isclose(got, want, rtol=(fields | known)["rtol"], atol=0)
    found = find(Failure(name, got, want, wrong, **fields | known))
    return "\n".join((found.seen, *found.causes)) if found else ""


def test_a_logarithm_of_32_asks_whether_each_lane_counts_every_element():
    told = seen(LSE + math.log(32), LSE, "lse")
    assert "3.46574 too large, which is log(32)\n" in told
    assert "is each element counted 32 times, once by every lane?" in told
    assert "log" not in seen(LSE + 3.2, LSE, "lse").partition("\n")[0]


def test_known_constants():
    assert constants.of_factor(1 / math.log(2))[0] == "1 / log(2)"
    assert "every lane" in constants.of_factor(32.0)[1]
    assert "divided by 32" in constants.of_factor(1 / 32)[1]
    assert constants.of_term(-math.log(4))[1].startswith("is a sum 4 times too small")
    assert constants.of_factor(3.0) is constants.of_term(0.5) is None


def test_a_sum_without_its_logarithm_and_one_with_another():
    top = X.max(1)
    assert "where is its logarithm?" in seen(top + np.exp(LSE - top), LSE, "lse")
    assert "the natural logarithm" in seen(top + (LSE - top) / math.log(2), LSE, "lse")
    assert "logarithm" not in seen(top + (LSE - top) * 1.3 + 1, LSE, "lse").partition("\n")[0]


def test_only_rows_that_are_not_counted():
    got = np.where(MARKS < 0, 3 + X[:, 0], LOSS)
    assert seen(got, LOSS).startswith("only elements where labels is -100 are wrong, and all of")
    got[4] = 0
    assert seen(got, LOSS).startswith("only elements where labels is -100 are wrong, and some of")
    got[0] += 1
    assert "-100" not in seen(got, LOSS)


def test_an_output_that_holds_what_another_one_should():
    assert "are loss and lse exchanged" in seen(LSE, LOSS, due={"lse": LSE})
    told = seen(np.where(MARKS < 0, LSE, LOSS), LOSS, due={"lse": LSE}, right={"lse": LSE})
    assert told.startswith("each wrong one is what lse is there\n")


def test_of_a_right_sum_nothing_is_said_but_what_is_taken_beside_it():
    failure = Failure("loss", LOSS + X[:, 3], LOSS, LOSS > -9, words=WORDS, right={"lse": LSE})
    (cause,) = failure.likely("a factor")
    assert cause == "lse is right and loss is not: what does loss take beside lse?"
    total = Failure("total", LOSS, LSE, LOSS > -9, words=WORDS, right={"m": LSE})
    assert total.likely("a factor")[0] == RESCALED


# What is left of advice once the result was looked at.


def test_sums_that_count_twice_are_not_ruled_out():
    assert "is each counted once?" in FORMULA
    assert "indices are right" not in FORMULA


def difference(**cells) -> Looked:
    """Return what was looked at: a word for each input, or a row of them."""
    return Looked(Difference("y[0, 0]", {name: np.array(uses) for name, uses in cells.items()}))


def test_a_number_has_no_index_to_look_at():
    assert difference(scale=MISSING, x=[USED, MISSING]).others == ("x",)
    assert difference(scale=MISSING).others == ()


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        (lambda col: col % 32 == 0, True),  # nothing is exchanged
        (lambda col: col % 2 == 0, True),  # distance 1 is forgotten
        (lambda col: col < 64, False),  # the end of the row is
        (lambda col: col % 32 < 31, False),
    ],
)
def test_elements_of_other_lanes_are_missing(kept, asked):
    row = np.where(kept(np.arange(100)), USED, MISSING)
    assert difference(x=[row]).of_other_lanes is asked
    assert not difference(x=[row], w=[EXTRA]).of_other_lanes or asked


def test_lanes_are_asked_about_first_where_a_kernel_is_of_lanes():
    @cuda.jit
    def summed(x, y):
        y[0] = cuda.shfl_xor_sync(0xFFFFFFFF, x[cuda.threadIdx.x], 1)

    assert is_of_lanes(summed) and not is_of_lanes(len)
    lanes = Ruled(of_one_maximum=True, others=("x",), other_lanes=True)
    assert narrowed(f"{RESCALED}; or {TERMS}", lanes) == LANES
    small = f"is it?\nThat change is on line 3; or {MASKED}"
    assert narrowed(small, lanes) != LANES


def test_of_indices_that_were_left_alone_nothing_is_claimed():
    used = {"x": np.array([USED, USED])}
    assert "exactly the inputs that" in Difference("y[0]", used).say()
    assert "exactly the elements of x that" in Difference("y[0]", used, left_alone=True).say()
    told = narrowed(MASKED, Ruled(exact=True, tried="elements of x"))
    assert told.startswith("it depends on the elements of x that it should and on no others: ")


def test_an_infinite_logarithm_is_one_of_a_sum_that_is_0():
    got = np.where(MARKS < 0, -np.inf, LSE)
    told = seen(got, LSE, "lse", inputs={})
    assert "the logarithm of 0 is -inf" in told and "division" not in told
    words = frozenset({"exp"})
    told = seen(-got, LSE, "lse", inputs={}, words=words)
    assert "is what is subtracted before exp the largest" in told and "division" not in told
    assert "a division by a sum of 0" in seen(-got, LSE, "lse", inputs={}, words=words | {"/"})


def test_zeros_before_the_last_element_ask_where_the_store_stands():
    got = np.where(np.arange(9) < 8, 0, LSE)
    assert "in the loop, or after it?" in seen(got, LSE, "m", inputs={})
    got[5] = LSE[5]
    assert "after it" not in seen(got, LSE, "m", inputs={})


@pytest.mark.parametrize(
    ("got", "told"),
    [([nan, 1, nan, 2], "all 2 elements"), ([nan, 1, 0, 2], "1 of the 2"), ([nan, 1], "the only")],
)
def test_missing_zeros_are_counted(got, told):
    want = np.nan_to_num(np.array(got))
    missing = np.isnan(got)
    assert told in where_missing(Launch("", 1, 32, (), want=()), missing, want)


def test_a_number_is_quoted_with_its_line():
    (first, *_) = [
        one for one in changes(ast.parse("def f(x):\n    return x - 1").body[0]) if one.text == "1"
    ]
    assert quoted(first, 2, "    return x - 1").endswith("on line 2: 1, in return x - 1")


def test_arguments_of_which_nothing_but_shapes_is_known_are_left_out():
    call = Call("long", (np.zeros(9), np.zeros(9)), np.ones(2))
    assert "called as" not in judge_call(lambda a, b: np.zeros(2), call).detail
    call = Call("long", (np.zeros(9), np.zeros(9), 7), np.ones(2))
    assert ", 7)" in judge_call(lambda a, b, c: np.zeros(2), call).detail


def test_a_sum_of_all_its_terms_is_not_called_a_part():
    x = RNG.normal(size=(4, 40))
    whole = x.sum(1)
    told = seen(whole + 1e-7, whole, inputs={"x": x}, rtol=1e-9, words=frozenset())
    assert " of the 40 " not in told
    told = seen(x[:, :39].sum(1), whole, inputs={"x": x}, words=frozenset())
    assert "the last one is missing" in told


def test_nan_is_not_laid_to_a_maximum_that_begins_at_minus_infinity_where_none_does():
    got = np.full(9, nan)
    words = frozenset({"exp", "max", "/", "WIDTH"})
    assert "begin at -inf, not at a number?" in seen(got, LSE, inputs={"x": X}, words=words)
    for word in ("inf", "MASKED"):
        told = seen(got, LSE, inputs={"x": X}, words=words | {word})
        assert "begin at -inf, not" not in told and "guard that difference" in told


def test_one_row_is_named_though_some_of_it_is_right_by_chance():
    marked = np.zeros((3, 40, 32), bool)
    marked[:, 31, : 3 * 8] = True
    assert place(marked, (16, 16)).told.startswith("row 31 of 40 only, the last of a tile of 16")
    marked[0, 30, 0] = True
    assert place(marked, (16, 16)) is None
