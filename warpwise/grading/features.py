"""Features of a hidden case, in words that hold none of its numbers.

Each is the end of a sentence: "the kernel fails where the number of columns is not a multiple of
32". Left out: which of them a mistake has to do with; ``behaviour`` finds that."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from warpwise.labs.exercise import Case, InOut, Launch, Out, Program, shape_of
from warpwise.metrics import WARP_SIZE
from warpwise.simt.launch import dimensions

MOST_EQUAL = 8  # values that may be equal by chance
EXP_OVERFLOWS = 88  # float32: exp of more is infinite
# Spreads between zero and the mean, from which on a sum of squares loses the variance's digits.
FAR = 100
COMMON = {"float32", "float64", "int32", "int64", "bool"}
#: how the numbers of rows and of columns compare
FORMS = (
    "there are as many rows as columns",
    "there are not as many rows as columns",
    "there are more rows than columns",
    "there are more columns than rows",
)
RANKS = {1: "is one rank", 2: "are two ranks"}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def features(case: Case) -> Iterator[str]:
    """Yield the features of a case, the most telling first, each as the end of "where ..."."""
    arrays = _arrays(case)
    for array in arrays:
        yield from _rare_values(array)
    yield from _of_ranks(case)
    yield from _of_sizes(case)
    for which, number in _scalars(case):
        if number in (0, 1):
            yield f"{which} is {'one' if number else 'zero'}"
        elif number < 0:
            yield f"{which} is negative"
        elif not np.isfinite(number):
            yield f"{which} is not finite"
    yield from (f"an array is {dtype}" for dtype in sorted({a.dtype.name for a in arrays} - COMMON))


def details(case: Case) -> Iterator[str]:
    """Yield features that seldom matter."""
    for which, number in _scalars(case):
        if isinstance(number, (int, np.integer)) and number > 1:
            if number % 2:
                yield f"{which} is odd"
            if number & (number - 1):
                yield f"{which} is not a power of two"
            if number > WARP_SIZE:
                yield f"{which} is larger than {WARP_SIZE}"
    for array in _arrays(case):
        yield from _plain_values(array)
    extents = _extents(case)
    yield from (f"the number of {what} is odd" for what, size in extents if size % 2 and size > 1)
    for what, size in extents:
        if size & (size - 1):
            yield f"the number of {what} is not a power of two"


def _arrays(case: Case) -> list[np.ndarray]:
    """Return the arrays among the arguments."""
    given = (argument.start if isinstance(argument, InOut) else argument for argument in case.args)
    return [argument for argument in given if isinstance(argument, np.ndarray)]


def _scalars(case: Case) -> Iterator[tuple[str, Any]]:
    """Yield the arguments that are numbers, each with a name: "the first argument"."""
    for place, argument in enumerate(case.args):
        if isinstance(argument, (int, float, np.number, np.bool_)):
            known = place < len(ORDINALS)
            yield f"the {ORDINALS[place]} argument" if known else "an argument", argument


def _extents(case: Case) -> list[tuple[str, int]]:
    """Return the sizes that matter, each with a name.

    These are columns and rows of the first array that has both, or else the elements of the largest
    array."""
    shapes = _shapes(case)
    wide = next((shape for shape in shapes if len(shape) >= 2), None)
    if wide:
        return [("columns", wide[-1]), ("rows", wide[-2])]
    return [("elements", max(map(prod, shapes)))] if shapes else []


def _shapes(case: Case) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays, and of the outputs."""
    outputs = [shape_of(argument) for argument in case.args if isinstance(argument, Out)]
    return [array.shape for array in _arrays(case)] + outputs


def _of_ranks(case: Case) -> Iterator[str]:
    """Yield features of a program's number of ranks."""
    if isinstance(case, Program):
        yield f"there {RANKS.get(case.ranks, 'are more than two ranks')}"
        if case.ranks % 2 and case.ranks > 1:
            yield "the number of ranks is odd"
        if case.ranks & (case.ranks - 1):
            yield "the number of ranks is not a power of two"


def _of_sizes(case: Case) -> Iterator[str]:
    if any(prod(shape) == 0 for shape in _shapes(case)):
        yield "an array has no element"
    block, grid = _block_and_grid(case)
    extents = _extents(case)
    for axis, (what, size) in enumerate(extents):
        yield from _of_extent(what, size, block[axis], block[axis] * grid[axis])
    if len(extents) == 2:
        yield from _of_form(extents[1][1], extents[0][1])
    if isinstance(case, Launch):
        yield "there is only one block" if prod(grid) == 1 else "there are several blocks"


def _of_form(rows: int, columns: int) -> Iterator[str]:
    square, not_square, tall, wide = FORMS
    if rows == columns:
        yield square
    else:
        yield tall if rows > columns else wide
        yield not_square


def _block_and_grid(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return threads and blocks along x, y and z; ones for a call."""
    if not isinstance(case, Launch):
        return (1, 1, 1), (1, 1, 1)
    return dimensions(case.threads, "threads"), dimensions(case.blocks, "blocks")


def _of_extent(what: str, size: int, block: int, grid: int) -> Iterator[str]:
    """Yield features of one size; ``block`` and ``grid`` are their numbers of threads along it."""
    only = "only" if size == 1 else "more than"
    if size:
        yield f"there is {only} one {what.removesuffix('s')}"
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
    """Yield what few arrays hold, and kernels go wrong on."""
    if array.dtype.kind == "b" and array.size:
        if not array.any():
            yield "no value of an array is true"
        if array.all():
            yield "all values of an array are true"
    if array.dtype.kind not in "iuf" or not array.size:
        return
    if array.dtype.kind == "f" and array.ndim and np.isinf(array).all(axis=-1).any():
        yield "a whole row is infinite" if array.ndim > 1 else "all values are infinite"
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            yield "there is a nan"
        if np.isneginf(array).any():
            yield "there is a minus infinity"
        if np.isposinf(array).any():
            yield "there is an infinity"
    numbers = array[np.isfinite(array)].astype(np.float64)
    if array.dtype.kind == "f" and numbers.size and np.abs(numbers).max() > EXP_OVERFLOWS:
        yield "values are so large that exp overflows or vanishes"
    if numbers.size > MOST_EQUAL and (numbers == numbers[0]).all():
        yield "all values of an array are equal"
    elif array.dtype.kind == "f" and numbers.size > 1 and abs(numbers.mean()) > FAR * numbers.std():
        yield "values lie far from zero and close together"
    steps = np.diff(array) if array.dtype.kind in "iu" and array.ndim == 1 else numbers[:0]
    if (steps >= 0).all() and (steps == 0).any() and (steps > 0).any():
        yield "neighbours in an ascending array are equal"


def _plain_values(array: np.ndarray) -> Iterator[str]:
    """Yield what many arrays hold: signs and order."""
    if array.dtype.kind not in "iuf":
        return
    numbers = array[np.isfinite(array)].astype(np.float64)
    if not numbers.size:
        return
    if array.dtype.kind == "f" and numbers.size == array.size:
        steps = np.diff(array, axis=-1)
        if steps.size and (steps > 0).all():
            yield "values ascend"
        if steps.size and (steps < 0).all():
            yield "values descend"
    if (numbers < 0).any():
        yield "all values are negative" if (numbers < 0).all() else "some values are negative"
    if (numbers == 0).any():
        yield "some values are zero"
