"""Patterns of whole rows, of blocks and powers, and of several outputs that are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise.labs.differences import MISSING, USED, Difference
from warpwise.labs.looked import Looked
from warpwise.labs.narrowed import FORGOTTEN, Ruled, narrowed
from warpwise.labs.patterns import Failure, find, of_fewer_axes, other_lines, place

RNG = np.random.default_rng(8)
A, B = RNG.normal(size=(32, 9)), RNG.normal(size=(9, 40))
C = A @ B
LONG = RNG.normal(size=512)
INVERSE = RNG.uniform(0.5, 2, 6)


def failure(got, want, **known) -> Failure:
    fields = {"inputs": {"a": A, "b": B}, "tile": (8, 32), "rtol": 1e-5}
    return Failure("c", got, want, ~np.isclose(got, want, rtol=1e-5, atol=0), **fields | known)


def seen(got, want, **known) -> str:
    found = find(failure(got, want, **known))
    return "\n".join((found.seen, *found.causes[:2])) if found else ""


def permuted(count: int) -> np.ndarray:
    """Rows 4 y + n in the place of rows y + 8 n."""
    return np.arange(count).reshape(-1, 4, 8).transpose(0, 2, 1).ravel()


CASES = {
    "rows in another order": (
        C[permuted(32)],
        C,
        "row 1 of c is what row 8 should be, and row 30 what row 23 should be\n"
        "does each thread store the rows",
    ),
    "the same rows for all": (
        C[np.arange(32) % 8],
        C,
        "row 8 of c is what row 0 should be, and row 31 what row 7 should be\nseveral rows take",
    ),
    "columns of another group": (
        C[:, 8 + np.arange(40) % 8],
        C,
        "column 0 of c is what column 8 should be, and column 39 what column 15 should be",
    ),
    "rows and columns": (
        C[permuted(32)][:, np.r_[permuted(32), 32:40]],
        C,
        "and columns stand elsewhere as well\ndoes each thread store",
    ),
    "one block for all": (
        np.tile(LONG[:128], 4),
        LONG,
        "c repeats the first 128 values\nan index leaves out the number of the block",
    ),
    "a root left out": (INVERSE**2, INVERSE, "each is the square of what it should be\na root"),
    "a quotient upside down": (1 / INVERSE, INVERSE, "each is one over what it should be"),
}


@pytest.mark.parametrize("name", CASES)
def test_lines_blocks_and_powers_are_found(name):
    got, want, told = CASES[name]
    assert told in seen(got, want)


def test_noise_is_no_line_of_another_place():
    assert other_lines.other_lines(failure(C + RNG.normal(size=C.shape), C)) is None
    assert other_lines.other_lines(failure(C[:3], C[:3] + 1)) is None


def test_rows_of_a_product_are_not_told_of_sums_and_scales():
    got = C.copy()
    got[1::2] += RNG.normal(size=got[1::2].shape)
    assert "each row of a product is made of one row of a factor" in seen(got, C)
    assert "such as its sum, maximum or scale" in seen(got, C, inputs={"a": A})


def test_numbers_of_places_that_follow_one_another_are_told_by_both_ends():
    marked = np.isin(np.arange(64) % 32, (0, 2, *range(8, 32)))
    assert place(marked).told == "the elements whose number % 32 is 0, 2, 8 to 31"


def test_the_first_block_asks_for_the_number_of_the_block():
    marked = np.arange(64) >= 32
    assert place(marked, (32,)).causes[0].startswith("what is right is as long as a block")
    assert place(marked, (128,)).causes[0].startswith("only the first tile")


def test_all_zeros_are_a_case_of_their_own():
    before = ({"x": LONG[:8]},)
    told = seen(np.full(3, 1e-9), np.ones(3), inputs={"x": np.zeros(8)}, before=before)
    assert told.startswith("all of x is 0 here, and in no case that is right\nzeros alone are")
    assert "zeros alone" not in seen(C, 2 * C, inputs={"x": np.zeros(8, int)}, before=before)


def test_a_smaller_output_that_is_wrong_as_well_is_told_first():
    got = C + RNG.normal(size=C.shape)
    one = failure(got, C, also={"rstd": (INVERSE**2, INVERSE)})
    found = of_fewer_axes(one, find(one))
    assert found.seen == "rstd is wrong as well: each is the square of what it should be"
    assert found.causes[0].startswith("mend rstd first")
    assert of_fewer_axes(failure(2 * C, C, also=one.also), find(failure(2 * C, C))) is None
    assert of_fewer_axes(failure(got, C), None) is None


def test_a_number_that_should_count_is_asked_for_first():
    cells = {"x": np.full(3, USED), "beta": np.array(MISSING)}
    looked = Looked(Difference("p[0]", cells))
    assert looked.numbers == ("beta",) and not looked.others
    told = narrowed("a; or b", Ruled(numbers=looked.numbers))
    assert told == f"{FORGOTTEN.format(number='beta')} Or: a"
    assert narrowed("is beta read?", Ruled(numbers=("beta",))) == "is beta read?"
