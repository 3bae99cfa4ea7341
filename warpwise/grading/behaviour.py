"""What sets the hidden case that failed apart from those that were right before it: in words, and with no number of the case.

A case has features, such as "a number of columns that is no multiple of 32". Those that the failed case has and none of the right ones
are named, at most two. What this leaves out: why it fails, which only the kernel could say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from warpwise.labs.exercise import Case, InOut, Launch, Out, Reason, shape_of
from warpwise.metrics import WARP_SIZE

ALIKE = "fails for some inputs and not for others that look alike"
MOST_NAMED = 2
MOST_EQUAL = 8  # values that may be equal by chance
WHATEVER_THE_INPUT = (Reason.NOT_DEFINED, Reason.NOT_PYTHON, "not a kernel feature", "types do not fit")
EXP_OVERFLOWS = 88  # float32: exp of more is infinite
FIRST = "fails already in the first case"
FAR = 100  # times the spread: where the mean lies so far off, a sum of squares loses the digits of the variance
COMMON = {"float32", "float64", "int32", "int64", "bool"}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def behaviour(cases: Sequence[Case], failed: int, reason: str = "") -> str:
    """When an exercise fails, as the end of "The kernel ...".

    ``failed`` is the place of the failed case; all before it were right. ``reason`` is that of its verdict: of a counter over its budget
    only the cases count that have such a budget, and what no input can change is not explained by one.
    """
    of_a_launch = reason.startswith(Reason.OVER_BUDGET) and reason != Reason.TOO_MUCH_MEMORY
    counter = reason.removeprefix(Reason.OVER_BUDGET) if of_a_launch else ""
    if reason in WHATEVER_THE_INPUT and not failed:
        return FIRST
    right = [case for case in cases[:failed] if not counter or (counter in getattr(case, "budget", {}))]
    if not right:
        first = f"{FIRST} with a budget on {counter.replace('_', ' ')}" if counter and failed else FIRST
        every = [set(features(case)) for case in cases]
        rare = _named(feature for feature in features(cases[failed]) if 2 * sum(feature in one for one in every) < len(every))
        return f"{first}, where {rare}" if rare else first
    for tell in (features, details):  # details only where nothing else sets the case apart
        own, seen = list(tell(cases[failed])), [set(tell(case)) for case in right]
        alone = _named(feature for feature in own if not any(feature in one for one in seen))
        together = next((pair for pair in combinations(own, 2) if not any(set(pair) <= one for one in seen)), ())
        if alone or together:
            return f"fails where {alone or ' and '.join(together)}"
    return ALIKE


def _named(found: Iterable[str]) -> str:
    """At most two features, each of something else: "the number of rows" is one thing, however much can be said of it."""
    of: dict[str, str] = {}
    for feature in found:
        of.setdefault(feature.partition(" is ")[0] if feature.startswith("the ") else feature, feature)
    return " and ".join(list(of.values())[:MOST_NAMED])


def features(case: Case) -> Iterator[str]:
    """The features of a case, the most telling first, each as the end of "where ..."."""
    arrays = _arrays(case)
    for array in arrays:
        yield from _rare_values(array)
    yield from _of_sizes([a.shape for a in arrays] + [shape_of(a) for a in case.args if isinstance(a, Out)], case)
    for which, number in _scalars(case):
        if number in (0, 1):
            yield f"{which} is {'one' if number else 'zero'}"
        elif number < 0:
            yield f"{which} is negative"
        elif not np.isfinite(number):
            yield f"{which} is not finite"
    yield from (f"an array is {dtype}" for dtype in sorted({a.dtype.name for a in arrays} - COMMON))


def details(case: Case) -> Iterator[str]:
    """Features that seldom matter."""
    for which, number in _scalars(case):
        if isinstance(number, (int, np.integer)) and number > 1:
            yield from [f"{which} is odd"] * bool(number % 2) + [f"{which} is not a power of two"] * bool(number & (number - 1))
            yield from [f"{which} is larger than {WARP_SIZE}"] * bool(number > WARP_SIZE)
    for array in _arrays(case):
        yield from _plain_values(array)
    yield from (f"the number of {what} is odd" for what, size in _extents(case) if size % 2 and size > 1)
    yield from (f"the number of {what} is not a power of two" for what, size in _extents(case) if size & (size - 1))


def _arrays(case: Case) -> list[np.ndarray]:
    """The arrays that the arguments bring."""
    given = (argument.start if isinstance(argument, InOut) else argument for argument in case.args)
    return [argument for argument in given if isinstance(argument, np.ndarray)]


def _scalars(case: Case) -> Iterator[tuple[str, Any]]:
    """The arguments that are numbers, and how they are called."""
    for place, argument in enumerate(case.args):
        if isinstance(argument, (int, float, np.number, np.bool_)):
            yield f"the {ORDINALS[place]} argument" if place < len(ORDINALS) else "an argument", argument


def _extents(case: Case) -> list[tuple[str, int]]:
    """The sizes that matter: columns and rows of the first array that has them, or else the elements of the largest."""
    shapes = [a.shape for a in _arrays(case)] + [shape_of(a) for a in case.args if isinstance(a, Out)]
    wide = next((shape for shape in shapes if len(shape) >= 2), None)
    if wide:
        return [("columns", wide[-1]), ("rows", wide[-2])]
    return [("elements", max(map(prod, shapes)))] if shapes else []


def _of_sizes(shapes: Sequence[tuple[int, ...]], case: Case) -> Iterator[str]:
    if any(prod(shape) == 0 for shape in shapes):
        yield "an array has no element"
    block, grid = _block_and_grid(case)
    extents = _extents(case)
    for axis, (what, size) in enumerate(extents):
        yield from _of_extent(what, size, block[axis], block[axis] * grid[axis])
    if len(extents) == 2:
        yield _of_form(extents[1][1], extents[0][1])
    if isinstance(case, Launch):
        yield "there is only one block" if prod(grid) == 1 else "there are several blocks"


def _of_form(rows: int, columns: int) -> str:
    if rows == columns:
        return "there are as many rows as columns"
    return "there are more rows than columns" if rows > columns else "there are more columns than rows"


def _block_and_grid(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Threads and blocks along x, y and z; ones for a call."""
    sides = (case.threads, case.blocks) if isinstance(case, Launch) else (1, 1)
    return tuple((*((side,) if isinstance(side, int) else side), 1, 1)[:3] for side in sides)


def _of_extent(what: str, size: int, block: int, grid: int) -> Iterator[str]:
    """Features of one size, along which a block and the grid have so many threads."""
    if size == 1:
        yield f"there is only one {what.removesuffix('s')}"
    what = f"the number of {what}"
    if block > 1 and size > grid:
        yield f"{what} is larger than the number of threads along it"
    if block > 1 and size % block:
        yield f"{what} is not a multiple of the block's {block} threads"
    if size % WARP_SIZE:
        yield f"{what} is not a multiple of {WARP_SIZE}"
    if block > 1 and size > block:
        yield f"{what} is larger than a block"
    if size > WARP_SIZE:
        yield f"{what} is larger than a warp"
    if size % WARP_SIZE == 0:
        yield f"{what} is a multiple of {WARP_SIZE}"
    if 1 < size < WARP_SIZE:
        yield f"{what} is smaller than a warp"


def _rare_values(array: np.ndarray) -> Iterator[str]:
    """What few arrays hold, and kernels go wrong on."""
    if array.dtype.kind == "b" and array.size:
        yield from ["no value of an array is true"] * (not array.any()) + ["all values of an array are true"] * bool(array.all())
    if array.dtype.kind not in "iuf" or not array.size:
        return
    if array.dtype.kind == "f" and array.ndim and np.isinf(array).all(axis=-1).any():
        yield "a whole row is infinite" if array.ndim > 1 else "all values are infinite"
    kinds = ((np.isnan, "there is a nan"), (np.isneginf, "there is a minus infinity"), (np.isposinf, "there is an infinity"))
    yield from (said for test, said in kinds if array.dtype.kind == "f" and test(array).any())
    numbers = array[np.isfinite(array)].astype(np.float64)
    if array.dtype.kind == "f" and numbers.size and np.abs(numbers).max() > EXP_OVERFLOWS:
        yield "values are so large that exp overflows or vanishes"
    if numbers.size > MOST_EQUAL and (numbers == numbers[0]).all():
        yield "all values of an array are equal"
    elif array.dtype.kind == "f" and numbers.size > 1 and abs(numbers.mean()) > FAR * numbers.std():
        yield "values lie far from zero and close together"
    steps = np.diff(array) if array.dtype.kind in "iu" and array.ndim == 1 else numbers[:0]
    if array.ndim == 1 and steps.size and (steps >= 0).all() and (steps == 0).any() and (steps > 0).any():
        yield "neighbours in an ascending array are equal"


def _plain_values(array: np.ndarray) -> Iterator[str]:
    """What is in many arrays: signs and order."""
    numbers = array[np.isfinite(array)].astype(np.float64) if array.dtype.kind in "iuf" else np.empty(0)
    if not numbers.size:
        return
    steps = np.diff(array, axis=-1) if array.dtype.kind == "f" and numbers.size == array.size else np.empty(0)
    yield from ["values ascend"] * bool(steps.size and (steps > 0).all()) + ["values descend"] * bool(steps.size and (steps < 0).all())
    if (numbers < 0).any():
        yield "all values are negative" if (numbers < 0).all() else "some values are negative"
    if (numbers == 0).any():
        yield "some values are zero"
