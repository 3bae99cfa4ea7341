"""Which name a misspelled one stands for, and which names are too far from any."""

from itertools import permutations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import UndefinedNameError
from warpwise.labs import Out
from warpwise.simt.compiler.spelling import OWN, distance, meant

sizes, shape, seams = [1, 2], [(1, 2)], np.zeros(3)
WIDTH = 4


def by_slips(a: str, b: str) -> int:
    """Count slips by making every text that is one away, again and again."""
    found, steps = {a}, 0
    while b not in found:
        found |= {text for one in found for text in one_away(one, set(a + b))}
        steps += 1
    return steps


def one_away(text: str, letters: set[str]):
    for i in range(len(text) + 1):
        before, after = text[:i], text[i:]
        yield from (before + letter + after for letter in letters)
        yield from (before + letter + after[1:] for letter in letters if after)
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]


@pytest.mark.parametrize(("a", "b"), [*permutations(("ab", "ba", "abc", "cb", "cab", ""), 2)])
def test_slips_are_counted_as_by_trying_them_all(a, b):
    assert distance(a, b) == by_slips(a, b)


@pytest.mark.parametrize(
    ("typed", "known", "right"),
    [
        ("strat", "start", "start"),  # codespell:ignore
        ("shpae", "shape", "shape"),  # codespell:ignore
        ("Total", "total", "total"),
        ("threadsIdxx", "threadIdx", "threadIdx"),
        ("tot", "Out", ""),
        ("lane", "range", ""),
        ("inf", "min", ""),
        ("N", "np", ""),
        ("i", "in_", ""),
        ("strat", "stwt", ""),  # codespell:ignore
        ("size", "warpsize", ""),
        ("x" * 41, "x" * 41, ""),
    ],
)
def test_a_name_is_near_if_it_is_a_slip_away(typed, known, right):
    assert meant(typed, [known]) == right


def test_names_of_three_letters_are_near_only_among_the_author_s_own():
    assert (meant("rwo", ["row"]), meant("rwo", ["row"], OWN)) == ("", "row")


def test_the_nearest_of_several_is_meant():
    assert meant("threadidx", ["threadIdy", "threadIdx", "threadldx"]) == "threadIdx"


def told(body: str) -> str:
    with pytest.raises(UndefinedNameError) as error:
        trace(KERNELS[body], 1, 32, np.zeros(32, np.float32))
    return error.value.what


@cuda.jit
def names_a_list(x):
    x[0] = size  # noqa: F821


@cuda.jit
def names_a_constant(x):
    x[0] = WIDTHH  # noqa: F821


@cuda.jit
def names_a_class_of_the_package(x):
    x[0] = Outt  # noqa: F821


KERNELS = {k.__name__: k for k in (names_a_list, names_a_constant, names_a_class_of_the_package)}


def test_only_what_a_kernel_can_use_is_meant():
    assert Out and told("names_a_list") == "size is not defined"
    assert told("names_a_class_of_the_package") == "Outt is not defined"
    assert told("names_a_constant") == "WIDTHH is not defined; did you mean WIDTH?"
