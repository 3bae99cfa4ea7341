"""Patterns in wrong numbers: each is found where it was made, and not where it was not."""

from __future__ import annotations

import ast
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from warpwise import cuda
from warpwise.labs import Call, InOut, Launch, Out
from warpwise.labs.calls import judge_call
from warpwise.labs.causes import ALL_WRONG
from warpwise.labs.judge import judge, judge_launch
from warpwise.labs.narrowed import FORMULA, Ruled, narrowed
from warpwise.labs.patterns import Failure, find, place
from warpwise.labs.patterns.failure import MASKED, RESCALED, TERMS
from warpwise.labs.repairs import told
from warpwise.labs.small_changes import changes

KEPT = "what d held so far is lost here: should it be kept, and rescaled?"
RNG = np.random.default_rng(21)
N = 70
X = RNG.normal(size=N).astype(np.float32)
A = RNG.normal(size=(21, 41)).astype(np.float32)
B = RNG.normal(size=(41, 34)).astype(np.float32)
C = A @ B
SQUARES = (X * X).astype(np.float32)
WORDS = frozenset({"exp", "max"})


def failure(got, want, **known) -> Failure:
    """Return what is known of two arrays, of which the first is wrong."""
    got, want = np.asarray(got), np.asarray(want)
    fields = {"inputs": {"a": A, "b": B, "x": X}, "tile": (8, 8), "rtol": 1e-5}
    return Failure(
        "c",
        got,
        want,
        ~np.isclose(got, want, rtol=(fields | known)["rtol"], equal_nan=True, atol=0),
        **fields | known,
    )


def seen(got, want, **known) -> str:
    """Return what is seen in a wrong array, and its causes; "" if there is no pattern."""
    found = find(failure(got, want, **known))
    return "\n".join((found.seen, *found.causes[:2])) if found else ""


@pytest.mark.filterwarnings("error")
def test_bits_that_are_a_signalling_nan_make_no_warning():
    bits = np.array([0x7F800001, 0x7F800002], np.int32)
    got, _ = failure(bits.view(np.float32), np.ones(2, np.float32)).numbers
    assert np.isnan(got).all()


def changed(array, where, by=1.0):
    """Return a copy of an array with other numbers at some places."""
    array = array.copy()
    array[where] += by * (1 + np.arange(array[where].size).reshape(array[where].shape))
    return array


HALVES = np.array([0.5, 1.5, 2.25, 2.5, -3.5, 7.75, 126.5])
LONG = RNG.normal(size=512)
EDGE = changed(C, (slice(None), slice(32, None)))
TURNED = RNG.normal(size=(32, 32))
IN_TILES = TURNED.reshape(2, 16, 2, 16).transpose(0, 3, 2, 1).reshape(32, 32)
ROWS, COLS = RNG.normal(size=21), RNG.normal(size=34)
CASES = {
    "one factor": (0.25 * C, C, "each is 0.25 times what it should be"),
    "a size as the factor": (41 * C, C, "a.shape[1]"),
    "an exchanged difference": (-C, C, "the operands of a difference"),
    "a reduction": (A.max(1), np.log(np.exp(A).sum(1)), "c is the maximum of a along axis 1\n"),
    "a plain mean": (A.mean(0), (A * A).sum(0), "c is the mean of a along axis 0\nall parts count"),
    "a rising error": (A + 0.25 * np.arange(41), A, "its index along axis 1 times 0.25"),
    "rounding": (
        LONG + 0.02 * np.sin(np.arange(512) ** 2),
        LONG,
        "the errors are small, about 1.34 % of what is usual",
    ),
    "one row at a seam": (changed(C, 15), C, "row 15 of 21 only, the last of a tile of 8"),
    "a factor by row": (C * np.arange(1, 22)[:, None], C, "each row of c is off by one factor"),
    "a factor by column": (C * np.arange(1, 35), C, "each column of c is off by one factor"),
    "an offset": (C + 3, C, "each wrong one is 3 too large"),
    "a count one off": (
        np.array([4, 2, 5, 2]),
        np.array([3, 1, 4, 1]),
        "each wrong one is 1 too large",
    ),
    "a lost sign": (np.abs(C), C, "a sign is lost"),
    "a transposed matrix": (TURNED.T, TURNED, "c is transposed"),
    "a reshaped matrix": (
        A.reshape(41, 21),
        A.T,
        "in the order that they have there\na reshape keeps that order",
    ),
    "a reversed row": (X[::-1], X, "c is reversed"),
    "a shift": (np.roll(X, 2), X, "2 places after"),
    "order within tiles": (IN_TILES, TURNED, "each tile of 16 x 16"),
    "sorted": (np.sort(X), X, "the right values in other places"),
    "whole tiles only": (EDGE, C, "the columns from 32 on, 2 of 34"),
    "the last partial tile": (
        EDGE,
        C,
        "whole tiles of 8; all others are right\nthe last, partial tile",
    ),
    "the first tile": (changed(C, slice(8, None)), C, "only the first tile or block of 8 is right"),
    "one row": (changed(C, 5), C, "row 5 of 21 only"),
    "each 2nd": (changed(X, slice(1, None, 2)), X, "each 2nd of the elements, from 1 on"),
    "an input": (X, SQUARES, "c is x as it is"),
    "x + x": (X + X, SQUARES, "c is 2 * x\n+ stands where * should"),
    "another operator": (A + A[0], A * A[0], "c is a + v, with v taken by the column"),
    "a constant": (np.full(N, 2.0), X, "every element of c is 2"),
    "a missing factor": (X, X * SQUARES, "it were multiplied by s\nthe factor s is left out"),
    "a missing term": (C, C + 3 * B[:21, :34], "s is missing from each wrong one"),
    "two factors": (
        C * ROWS[:, None] * COLS,
        C,
        "r times s times what it should be\nthe factors r and s are there once too often",
    ),
    "a maximum left out": (
        A.sum(1) - A.max(1),
        A.sum(1),
        "the maximum of a along axis 1 is missing from each wrong one\nit is left out of a sum",
    ),
    "bits cut off": (
        np.array([0x10000, 0x18000], np.uint32),
        np.array([0x12000, 0x18000], np.uint32),
        "one step of 0x2000 too small, the lowest bit that is kept\nthe bits that are dropped",
    ),
    "another bit": (
        np.array([0x7F800000, 0x18000], np.uint32),
        np.array([0x7FC00000, 0x18000], np.uint32),
        "each wrong one is 0x400000 too small, which is one bit\nwhich condition",
    ),
    "first terms": (
        A[:, :32] @ B[:32],
        C,
        "c[0, 0] is the sum of the first 32 of the 41 products a[0, k] * b[k, 0]: "
        "the last 9 are missing",
    ),
    "the first term alone": (
        A[:, :1] @ B[:1],
        C,
        "c[0, 0] is only the first of the 41 products a[0, k] * b[k, 0]: the last 40 are missing",
    ),
    "the last term alone": (A[:, 40:] @ B[40:], C, "c[0, 0] is only the last of the 41 products"),
    "all but the last term": (A[:, :40] @ B[:40], C, "the last one is missing"),
    "last terms": (A[:, 32:] @ B[32:], C, "the last 9 of the 41 products"),
    "+= became =": (A[:, 40:] @ B[40:], C, "= stands where += should"),
    "one term": (C - np.outer(A[:, 3], B[3]), C, "all but product 3 of the 41 products"),
    "half of a row": (A[:, ::2].sum(1), A.sum(1), "the sum of 21 of the 41 elements a[0, k]"),
    "wrapped": (np.array([-56, 1, -126]), np.array([200, 1, 130]), "8 bits wrapped around"),
    "saturated": (np.array([127, -128, 3]), np.array([500, -900, 3]), "the range of int8"),
    "truncated": (np.trunc(9 * X), 9 * X, "are whole numbers, and should not be"),
    "cut, not rounded": (np.array([3, -2, 0]), np.array([4, -3, 0]), "round first, then convert"),
    "float16": (C.astype(np.float16).astype(np.float32), C, "a number is float16 on the way"),
    "close": (C * (1 + 0.001 * np.sin(C)), C, "close, but not close enough"),
    "odd ones, then even ones": (
        changed(X, np.r_[1:35:2, 36:70:2]),
        X,
        "the odd ones before 35, the even ones from there on",
    ),
    "seams between blocks": (
        changed(LONG, [126, 127, 128, 255, 256, 257, 383, 384]),
        LONG,
        "one block or tile of 128 ends and the next begins; all others are right\nat its ends",
    ),
    "ties upwards": (
        np.floor(HALVES + 0.5),
        np.rint(HALVES),
        "an element of h halfway between two",
    ),
    "counts too small": (
        np.array([3, 9, 1, 7, 2]),
        np.array([5, 12, 4, 8, 9]),
        "together 22 where 38 are due\nonly some of the inputs are counted",
    ),
    "zeros": (np.where(C > 0, C, 0), C, "every wrong element is 0"),
}
OTHERS = {
    "another operator": {"inputs": {"a": A, "v": A[0]}},
    "a missing factor": {"inputs": {"s": SQUARES}},
    "two factors": {"inputs": {"r": ROWS, "s": COLS}},
    "ties upwards": {"inputs": {"h": HALVES}},
    "a missing term": {"inputs": {"s": 3 * B[:21, :34]}},
    "seams between blocks": {"tile": (128,)},
    "order within tiles": {"tile": (16, 16)},
}


def test_digits_that_are_lost_are_no_other_sign_and_no_other_place():
    exact = np.array([0.3, -1.7, 2.9, 0.0625, -0.4])
    told = seen(exact.astype(np.float32), exact, rtol=1e-9, inputs={})
    assert told.startswith("no wrong element has more digits than a float32 holds")
    told = seen(exact * (1 + 3e-7), exact, rtol=1e-9, inputs={}, words=WORDS)
    assert told.startswith("they are close") and "digits" in told.split("\n")[1]


@pytest.mark.parametrize("name", CASES)
def test_a_pattern_is_found(name):
    got, want, told = CASES[name]
    assert told in seen(got, want, **OTHERS.get(name, {}))


ARGS = {"heads": 12, "n": 1024, "d": 64, "item_bytes": 2}


@pytest.mark.parametrize(
    ("got", "told"),
    [
        (
            6_316_032,
            "it is 24576 too small, which is 2 * heads * n\nan array of heads * n elements",
        ),
        (6_340_608 + 12 * 64, "768 too large, which is heads * d"),
    ],
)
def test_a_size_that_is_some_arrays_off_says_of_which_shape(got: int, told: str):
    assert told in seen(got, 6_340_608, inputs=ARGS)


def test_a_size_that_is_off_by_no_product_says_nothing_of_arrays():
    assert "an array of" not in seen(6_340_608 + 24_577, 6_340_608, inputs=ARGS)


def test_what_rises_along_an_axis_is_told_with_the_input_that_it_rises_by():
    slopes = np.array([0.5, 0.25], np.float32)
    got = LONG[:80].reshape(2, 40) + slopes[:, None] * np.arange(40)
    told = seen(got, LONG[:80].reshape(2, 40), inputs={"slopes": slopes})
    assert "its index along axis 1 times slopes, each line with its own" in told


def test_rows_that_are_right_are_no_rounding():
    half = np.where(np.arange(21)[:, None] % 2, 0, 0.01 * np.sin(np.arange(41) ** 2))
    assert "rounded" not in seen(A + half * (1 + A), A)


def test_noise_has_no_pattern():
    assert find(failure(C + RNG.normal(size=C.shape), C)) is None
    assert find(failure(RNG.normal(size=N), X)) is None


def test_a_shift_both_ways_is_no_tie():
    whole = np.arange(9.0)
    assert "halfway" not in seen(whole - 1, whole + 1, inputs={"n": whole})


def test_an_infinity_is_close_to_nothing():
    """L of a row that sees nothing is -inf, and 0 is another number."""
    told = seen([1.0, 0.0], [1.0, -inf], words=WORDS)
    assert "should all be -inf" in told and "close" not in told
    assert "is infinite\nexp of a large number" in seen([inf, 1, 2], [9.0, 1, 2], words=WORDS)
    assert "where 0 is due\na row that sees nothing" in seen([nan, 1], [0.0, 1], words=WORDS)


def test_places_are_told_along_the_axis_that_they_depend_on():
    marked = np.zeros((2, 9, 9), bool)
    marked[1] = True
    assert place(marked).told == "along axis 0, the last index only"
    corner = np.ones((9, 9), bool)
    corner[:8, :8] = False
    assert place(corner).told == "those from row 8 on and those from column 8 on"
    assert "on the diagonal" in place(np.eye(9, dtype=bool)).told
    assert place(RNG.random((9, 9)) < 0.5) is None and place(np.ones(4, bool)) is None


# As a student reads them.


@cuda.jit
def square(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * x[i]


@cuda.jit
def doubled(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + x[i]


@cuda.jit
def never_stored(x, y):
    i = cuda.grid(1)
    if i < x.size:
        new = x[i] + y[i]  # noqa: F841, which is the mistake


@cuda.jit
def last_one_missing(x, y):
    i = cuda.grid(1)
    if i < x.size - 1:
        y[i] = x[i] * x[i]


@cuda.jit
def root(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = (v - v) / (v - v)


def squares(size: int) -> Launch:
    x = X[:size]
    return Launch(f"{size}", 2, 64, (x, Out(size)), (x * x,), rtol=1e-6)


def test_x_plus_x_is_told_from_x_times_x():
    verdict = judge(doubled, (squares(N), squares(9)))[-1]
    assert verdict.detail.endswith("\ny is 2 * x")
    asked, place = verdict.advice.split("\n")
    assert asked == (
        "with one small change all is right: is + the right operator? "
        "Or: + stands where * should, or x is added twice"
    )
    assert place.startswith("That change is on line ") and place.endswith(": x[i] + x[i]")


def test_what_the_data_shows_is_for_its_owner():
    verdict = judge(doubled, (squares(N),))[-1]
    assert verdict.message.hidden() == "y is wrong"
    assert verdict.remedy.hidden().startswith("work out by hand an element of y near the beginning")


def test_an_array_changed_in_place_that_is_never_stored_is_named():
    launch = Launch("in place", 2, 64, (X, InOut(X)), (2 * X,), rtol=1e-6)
    verdict = judge_launch(never_stored, launch)
    assert verdict.reason == "wrong result"
    assert verdict.detail.endswith(
        "y holds what it held before the launch: nothing new is stored to it"
    )
    assert "store its new value, y[i] = ..." in verdict.advice


def test_a_missing_element_is_placed_and_the_line_named():
    verdict = judge(last_one_missing, (squares(N),))[-1]
    assert verdict.detail.endswith("\nmissing: the last element only")
    assert "is < the right comparison" in verdict.advice.split("\n")[0]
    assert verdict.advice.endswith(": i < x.size - 1")


def test_the_line_that_stores_the_first_nan_is_named():
    verdict = judge_launch(root, squares(N))
    assert "70 of 70 elements are nan\nthe first one is stored on\n" in verdict.detail
    assert verdict.detail.endswith("y[i] = (v - v) / (v - v)")
    assert "nan comes from 0 / 0" in verdict.advice


def test_nothing_is_tried_before_somebody_reads(monkeypatch):
    tried = []
    monkeypatch.setattr("warpwise.labs.repairs.repair", lambda *given: tried.append(given))
    verdict = judge(doubled, (squares(N),))[-1]
    assert verdict.remedy.hidden() and not tried
    assert verdict.advice and len(tried) == 1


# Host functions.


def grows(n, step):
    """Return the sums of the numbers up to each of n."""
    total, sums = 0, []
    for i in range(1, n):
        total += step * i
        sums.append(total)
    return np.array([0, *sums])


def test_the_comparison_of_a_function_is_named():
    def most(values, limit):
        return int((values < limit).sum())

    table = np.arange(9)
    calls = [Call(f"{n}", (table, n), int((table <= n).sum())) for n in (3, 5)]
    verdict = judge(most, calls)[-1]
    assert "it is 1 too small" in verdict.detail
    assert "is < the right comparison, also where both" in verdict.advice
    assert verdict.advice.endswith(": values < limit")


X_2D = np.array([[1, -4, 2], [9, 1, -5]])


def of_all(x):
    return np.where(x == x.max(), 1, 0)


def of_columns(x):
    return np.where(x == np.max(x, axis=0, keepdims=True), 1, 0)


def of_values(x):
    return x.max(axis=1)


def test_a_reduction_of_the_wrong_elements_is_named():
    largest = Call("largest", (X_2D,), np.array([[0, 0, 1], [1, 0, 0]]))
    advice = judge_call(of_all, largest).advice
    assert "max: over all elements, or for each row" in advice and advice.endswith(": x.max()")
    assert "is axis=0 the right number?" in judge_call(of_columns, largest).advice
    sizes = Call("sizes", (X_2D,), np.array([4, 9]))
    assert "max: of the values, or of their magnitudes?" in judge_call(of_values, sizes).advice


@cuda.jit
def sides_exchanged(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i] if x[i] < x[0] else 3 * x[i]


@cuda.jit
def spread_in_one_pass(x, y):
    i = cuda.grid(1)
    if i < y.size:
        total, squares = np.float32(0), np.float32(0)
        for k in range(x.size):
            total += x[k]
            squares += x[k] * x[k]
        mean = total / np.float32(x.size)
        y[i] = squares / np.float32(x.size) - mean * mean


def test_exchanged_sides_of_a_choice_are_named():
    want = np.where(X[0] > X, 3 * X, 2 * X)
    verdict = judge(sides_exchanged, (Launch("n", 2, 64, (X, Out(N)), (want,), rtol=1e-6),))[-1]
    assert "which of the two belongs where the condition holds?" in verdict.advice


def test_digits_that_a_difference_loses_are_named():
    x = (300 + X).astype(np.float32)
    want = np.full(2, x.var(dtype=np.float64), np.float32)
    launch = Launch("n", 1, 2, (x, Out(2)), (want,), rtol=3e-3)
    verdict = judge(spread_in_one_pass, (launch,))[-1]
    assert "are digits lost where the square of a mean is taken from" in verdict.advice
    assert "See line" in verdict.advice and "That change is on" not in verdict.advice


def test_what_is_wrong_stands_before_long_arguments():
    call = Call("two", (np.array([3.0, 4.0]), np.array([3.0, 4.0])), np.array([2.0, 1.0]))
    verdict = judge_call(lambda a, b: np.array([2.0, 7.0]), call)
    first, *_, last = verdict.detail.splitlines()
    assert first == "<lambda>[1] should be 1 and is 7; 1 of 2 elements is wrong"
    assert last.startswith("    called as <lambda>(an array of float64 with shape (2,) [3.0, 4.0]")
    assert "array of float64" not in verdict.message.hidden()


def test_shapes_that_do_not_fit_come_with_something_to_try():
    call = Call("sum", (A, X), A)
    verdict = judge_call(lambda a, x: a + x, call)
    assert verdict.reason == "raised an error"
    assert "keepdims=True" in verdict.advice
    assert replace(verdict, message=verdict.message) == verdict


def test_a_sum_that_begins_anew_is_asked_whether_it_is_kept():
    text = "def f(row):\n    d = 0.0\n    for x in row:\n        d = g(x) + 1\n    return d"
    found = changes(ast.parse(text).body[0])
    asked = [c.question for c in found if "d = d * g(x) + 1" in ast.unparse(c.make())]
    assert asked == [KEPT]


@cuda.jit
def doubled_by_columns(x, y):
    s = cuda.shared.array((32, 32), np.float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    s[i, j] = x[j, i]
    cuda.syncthreads()
    y[j, i] = s[i, j] + s[i, j]


def test_a_change_that_breaks_the_budget_is_not_advised():
    x = np.linspace(1, 2, 1024, dtype=np.float32).reshape(32, 32)
    free, bound = (
        Launch("", 1, (32, 32), (x, Out((32, 32))), (x * x,), budget, 1e-5)
        for budget in ({}, {"shared_bank_conflicts": 0})
    )
    told = [judge(doubled_by_columns, (launch,))[-1].advice for launch in (free, bound)]
    assert ["with one small change" in advice for advice in told] == [True, False], told


def test_what_is_looked_at_is_quoted_as_it_stands_and_without_its_colon():
    text = "    if (x & 7) >= 8:"
    made = changes(ast.parse(f"def f(x):\n{text}\n        return x").body[0])
    compared = next(c for c in made if isinstance(c.node, ast.Compare))
    block = next(c for c in made if isinstance(c.node, ast.If))
    assert told(compared, 2, text).endswith("equal?\nThat change is on line 2")
    assert told(block, 2).endswith("?\nThat change is on line 2: if x & 7 >= 8")


@pytest.mark.parametrize(
    "written, there",
    [
        ("x < 8 and (not y)", "x < 8 and not y"),
        ("x[y] <= 1021", "x[y] <= 1_021"),
        ("low <= 1021", ""),
    ],
)
def test_what_is_looked_at_is_quoted_with_the_brackets_and_digits_of_the_line(written, there):
    first = changes(ast.parse("def f(x):\n    return x + 1").body[0])[0]
    change = replace(first, node=ast.parse(written, mode="eval").body)
    line = f"    if {there or 'low <= 0x3FD'}:"
    assert told(change, 2, line).endswith(f"?\nThat change is on line 2{there and ': ' + there}")


# What is left of advice once the result was looked at.

SOFTMAX = f"{RESCALED}; or {MASKED}"


@pytest.mark.parametrize(
    ("advice", "exact", "of_one_maximum", "left"),
    [
        (SOFTMAX, False, False, SOFTMAX),
        (SOFTMAX, True, False, RESCALED),
        (SOFTMAX, False, True, f"{MASKED}; or {TERMS}"),
        (MASKED, False, True, MASKED),
        (SOFTMAX, True, True, FORMULA.format(tried="inputs")),
        (RESCALED, False, True, RESCALED),  # nothing better is known
        (
            f"is it? Or: {RESCALED}\nThat change is on line 3",
            False,
            True,
            "is it?\nThat change is on line 3",
        ),
        (ALL_WRONG.format(name="y", first="0"), True, False, FORMULA.format(tried="inputs")),
        ("mend it", True, True, "mend it"),
    ],
)
def test_what_was_looked_at_rules_causes_out(advice, exact, of_one_maximum, left):
    assert narrowed(advice, Ruled(exact, of_one_maximum)) == left


def test_inputs_that_are_missing_speak_of_masks_and_edges():
    assert (
        narrowed(f"{RESCALED}; or {TERMS}", Ruled(of_one_maximum=True, others=("k", "v"))) == MASKED
    )
    told = narrowed(f"{RESCALED}; or {TERMS}", Ruled(others=("v",)))
    assert told.startswith("look at the index with which v is read: ") and RESCALED in told
    assert narrowed(TERMS, Ruled(of_one_maximum=True)) == TERMS


def test_no_rescaling_is_advised_where_the_sums_are_given_and_no_maximum_is_taken():
    words = frozenset({"exp", "inf"})
    failure = Failure("y", X, X, X > 0, words=words, inputs={"L": X})
    assert failure.likely("a factor") == (MASKED, "a factor")
    assert replace(failure, words=words | {"max"}).likely("a factor") == (RESCALED, MASKED)
    assert replace(failure, inputs={"row": X}).likely("a factor") == (RESCALED, MASKED)


def test_a_mask_is_blamed_only_where_a_case_can_leave_something_out():
    def causes(**inputs):
        return Failure("y", X, X, X > 0, words=WORDS, inputs=inputs).likely("a factor")

    whole, ragged = np.zeros((16, 40)), np.zeros((16, 41))
    assert causes(x=whole) == (RESCALED, TERMS) == causes(x=whole, lengths=np.array([40, 16]))
    assert causes(x=ragged) == (RESCALED, MASKED) == causes(x=whole, lengths=np.array([7, 0]))
    assert causes(x=whole, labels=np.array([-100, 3])) == (RESCALED, TERMS)
    assert causes(x=np.where(whole == 0, -inf, 0)) == (RESCALED, MASKED)


def test_what_is_made_of_right_weights_is_told_from_them():
    rows, matrix = np.zeros(16), np.zeros((16, 8))
    of_rows = Failure("L", rows, rows, rows == 0, words=WORDS, right={"o": matrix})
    assert of_rows.right_too == "all of o is right"
    both = replace(of_rows, right={"o": matrix, "lse": rows})
    assert both.right_too == "o and lse are right"
    assert "as o shows: compare the formula of L alone" in of_rows.likely()[0]
    of_matrix = Failure("o", matrix, matrix, matrix == 0, words=WORDS, right={"L": rows})
    assert "is what o holds multiplied by exp(old - new)" in of_matrix.likely()[0]
    of_sums = Failure("d", rows, rows, rows == 0, words=WORDS, right={"m": rows})
    assert of_sums.likely() == (RESCALED, TERMS)  # a maximum says nothing of a sum


def test_a_factor_by_row_where_nothing_is_divided():
    told = seen(C * np.arange(1, 22)[:, None], C, words=WORDS)
    assert "nothing is divided: is each row divided by the sum of its weights at the end?" in told
    told = seen(C * np.arange(1, 22)[:, None], C, words=WORDS | {"/"})
    assert "the sum of a row's weights is wrong" in told


# Labels: numbers that name something.


def slowest(times):
    return int(np.argmax(times))


def test_a_label_is_no_more_or_less_than_another():
    call = Call("three", (np.array([2.0, 3.0, 1.0]),), 2)
    assert "1 too small" in judge_call(slowest, call).detail
    found = judge_call(slowest, replace(call, labels=(0,)))
    assert "too small" not in found.detail and "Or: another one is chosen" in found.advice


def test_truth_values_are_labels():
    want = np.arange(40) % 3 == 0
    got, flipped = want.copy(), [3, 6, 7, 11, 12, 23, 24, 33, 39]
    got[flipped] = ~got[flipped]
    told = seen(got, want, tile=(), labels=True)
    assert told.startswith("6 should be True and are not, 3 should be False and are not")
    assert seen(~want, want, labels=True).startswith("each is the opposite of what it should be")
    call = Call("forty", (np.ones(40),), want)
    assert "6 should be True" in judge_call(lambda x: got, call).detail


def one_forgotten(reads):
    return reads + 1


def one_loop_short(n):
    return sum(1 for _ in range(n - 1))


@pytest.mark.parametrize(
    ("function", "want", "cause"),
    [
        (one_forgotten, 7, "something that counts is forgotten"),
        (one_forgotten, 5, "something is counted that should not be"),
        (one_loop_short, 5, "a range begins or ends one step too early or too late"),
    ],
)
def test_one_too_few_is_a_range_only_where_there_is_one(function, want: int, cause: str):
    assert cause in judge_call(function, Call("five", (5,), want)).advice


def test_no_factor_is_fitted_to_an_argument_of_0():
    """Zeros are 0 times anything."""
    want = RNG.normal(size=N)
    assert "offset" not in seen(np.zeros(N), want, inputs={"offset": 0})
