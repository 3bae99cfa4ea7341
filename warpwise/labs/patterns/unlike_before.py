"""Patterns of the case: what sets its inputs apart from those of the cases that are right.

A formula that is wrong only for some numbers is right for the others: a small constant tells where
the numbers are small, and digits are lost where they are large beside their differences. So these
look at the inputs, and not at what is wrong about the result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpwise.labs.patterns.failure import MASKED, Failure, Pattern, numbers_of
from warpwise.labs.patterns.relations import RAGGED

SMALLER = 0.1  # of the smallest before, below which numbers are called small
FAR, NEAR = 100.0, 10.0  # times its spread that an array lies from 0: far from it, and near it
TILES = (128, 64, 32, 16, 8)
SMALL_CONSTANT = (
    "a small constant that is added, such as eps, counts for much here: is it there, and does it "
    "stand where it should, inside a root or outside?"
)
SMALL_LOST = "a limit or a number of digits that is too coarse for numbers this small"
DIGITS_LOST = (
    "digits are lost where large numbers are subtracted from one another, such as a mean of "
    "squares and the square of a mean: take the mean away first, then square or multiply"
)
OF_NUMBER = (
    "what does {name} do in the formula: does it stand everywhere it should, and in the right "
    "place?"
)
OF_ZEROS = (
    "zeros alone are a case of their own, as where something is divided by the largest of them: "
    "what does the exercise ask for there, and which line sees to it?"
)
ALL_EQUAL = (
    "parts that have different numbers of elements there are put together as if all had as many: "
    "does each count for as much as it holds?"
)


def scaled(f: Failure) -> Pattern | None:
    """An input is much smaller than in all cases that are right, or lies far from 0."""
    if not f.before or f.got.dtype.kind != "f":
        return None
    before = [numbers_of(inputs) for inputs in f.before]
    for name, now in f.arrays.items():
        known = [inputs[name] for inputs in before if name in inputs]
        if f.inputs[name].dtype.kind != "f" or len(known) < len(before):
            continue
        if not all(np.isfinite(values).all() for values in (now, *known)):
            continue
        least, size = min(map(_size, known)), _size(now)
        if 0 < size < SMALLER * least:
            seen = (
                f"the numbers of {name} are about {size:.2g} here, and {least:.2g} or more in the "
                "cases that are right"
            )
            return Pattern(seen, (SMALL_CONSTANT, SMALL_LOST))
        if _far(now) > FAR and max(map(_far, known)) < NEAR:
            seen = (
                f"{name} lies about {float(f'{_far(now):.2g}'):,.0f} times as far from 0 here as "
                "its elements from one another, and near 0 in the cases that are right"
            )
            return Pattern(seen, (DIGITS_LOST, "a type that has too few digits"))
    return None


def all_zeros(f: Failure) -> Pattern | None:
    """An input is 0 everywhere, and was not in the cases that are right."""
    if f.is_softmax:
        return None  # there equal scores are meant
    for name, now in f.arrays.items():
        if f.inputs[name].dtype.kind != "f":
            continue  # such as numbers that name something
        known = [inputs[name] for inputs in map(numbers_of, f.before) if name in inputs]
        if known and not now.any() and all(values.any() for values in known):
            return Pattern(f"all of {name} is 0 here, and in no case that is right", (OF_ZEROS,))
    return None


def _size(values: np.ndarray) -> float:
    return float(np.sqrt((values * values).mean()))


def _far(values: np.ndarray) -> float:
    """Return how far an array lies from 0, in spreads of its elements."""
    spread = float(values.std())
    return abs(float(values.mean())) / spread if spread else 0.0


def ragged(f: Failure) -> Pattern | None:
    """Right where a length is a multiple of a tile, wrong for this one."""
    for tile in TILES:
        for name, axis, size, known in _lengths(f):
            if size % tile and not any(n % tile for n in known):
                length = f"{name}.shape[{axis}]"
                seen = (
                    f"the cases where {length} is a multiple of {tile} are right, and this one, "
                    f"where it is {size}, is not"
                )
                if len(set(known)) == 1:  # which tells of this length, and of no other
                    if (apart := _another_number(f, length, known[0], size)) is not None:
                        return apart
                    seen = f"right where {length} is {known[0]}, and wrong here, where it is {size}"
                return Pattern(seen, (RAGGED, ALL_EQUAL if _averages(f) else MASKED))
    return None


def _another_number(f: Failure, length: str, known: int, size: int) -> Pattern | None:
    """A number of the case is another one too, so that not only a length sets the case apart."""
    for name, now in f.scalars.items():
        before = {inputs.get(name) for inputs in f.before}
        value = before.pop() if len(before) == 1 else now
        if isinstance(value, int | float | np.number) and value != now:
            were, are = f"{name} is {value:g} and {length} is {known}", f"{now:g} and {size}"
            seen = f"right where {were}, and wrong here, where they are {are}"
            return Pattern(seen, (OF_NUMBER.format(name=name), RAGGED))
    return None


def _lengths(f: Failure) -> Iterator[tuple[str, int, int, list[int]]]:
    """Yield the axes of the inputs: name, number and length, and the lengths in earlier cases."""
    for name, array in f.inputs.items():
        for axis, size in enumerate(np.shape(array)):
            shapes = [np.shape(inputs.get(name, ())) for inputs in f.before]
            if shapes and all(len(shape) == np.ndim(array) for shape in shapes):
                yield name, axis, size, [shape[axis] for shape in shapes]


def _averages(f: Failure) -> bool:
    return any("mean" in word or "average" in word for word in f.words)
