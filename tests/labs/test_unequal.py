"""Whether equal numbers make a result wrong: found by moving them apart."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise.labs import Call, Program
from warpwise.labs.looked import Looked, looked
from warpwise.labs.narrowed import Ruled, narrowed
from warpwise.labs.unequal import named

EQUAL = np.array([2.0, 1.0, 2.0, -np.inf])
APART = np.array([2.0, 1.0, 3.0, -np.inf])


def places(x):
    return (x[:, None] >= x).sum(1).astype(float)


def places_without_equals(x):
    return (x[:, None] > x).sum(1) + 1.0


def always_wrong(x):
    return places(x) + 1


@pytest.mark.parametrize(
    ("function", "x", "names"),
    [
        (places_without_equals, EQUAL, ("x",)),
        (always_wrong, EQUAL, ()),
        (always_wrong, APART, ()),
    ],
)
def test_equal_numbers_are_named_where_they_alone_make_it_wrong(function, x, names):
    assert named(function, Call("", (x,), places(x), reference=places)) == names


def test_the_advice_speaks_of_equals_first():
    case = Call("", (EQUAL,), places(EQUAL), reference=places)
    found = looked(places_without_equals, case)
    assert "once the numbers of x all differ, the result is right" in found.told.lower()
    first, _, second = narrowed("a? Or: b\nline 3", Ruled(equals=True)).partition(" Or: ")
    assert first == "a?" and "two numbers are equal" in second and second.endswith("\nline 3")
    assert "two numbers are equal" in narrowed("b", Ruled(equals=True))
    already = "is < right, also where both sides are equal?"
    assert narrowed(already, Ruled(equals=True)) == already


def places_on_a_rank(dist, x):
    return places_without_equals(x)


def test_nothing_is_found_out_about_a_program_on_ranks():
    case = Program("", ((EQUAL,), (EQUAL,)), (places(EQUAL), places(EQUAL)))
    assert looked(places_on_a_rank, case) == Looked()
