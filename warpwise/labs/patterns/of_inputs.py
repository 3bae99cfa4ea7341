"""Patterns of the inputs: an output that is an input, or another simple function of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

FEWEST = 3  # elements below which a formula tells nothing
MOST_OPERANDS = 16
BINARY: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "{0} + {1}": np.add,
    "{0} - {1}": np.subtract,
    "{0} * {1}": np.multiply,
    "{0} / {1}": np.divide,
    "max({0}, {1})": np.maximum,
    "min({0}, {1})": np.minimum,
}
ORDERED = ("{0} - {1}", "{0} / {1}")
UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "-{0}": np.negative,
    "2 * {0}": lambda x: 2 * x,
    "{0} * {0}": np.square,
    "abs({0})": np.abs,
    "sqrt({0})": np.sqrt,
    "exp({0})": np.exp,
    "1 / {0}": np.reciprocal,
}
OTHER = "another function of the inputs is computed: compare its operators with the formula"


def constant(f: Failure) -> Pattern | None:
    """Every element is one number, which may be an argument."""
    got, want = f.numbers
    if got.size < FEWEST or np.ptp(want) == 0 or not (got == got.flat[0]).all():
        return None
    value = float(got.flat[0])
    if value == 0 or not np.isfinite(value):
        return None
    owners = (name for name, number in f.scalars.items() if np.float32(number) == value)
    owner = next(owners, "")
    whose = f", the value of {owner}" if owner else ""
    seen = f"every element of {f.name} is {value:.6g}{whose}"
    causes = ["the result does not depend on the element: where is it read?"]
    if owner and f.uses("min", "max", "minimum", "maximum"):
        causes.insert(0, "min and max are exchanged, or their order is: one limit always wins")
    else:
        causes.append("a factor or a term that makes it differ is left out, such as a weight")
    return Pattern(seen, tuple(causes))


def function_of_inputs(f: Failure) -> Pattern | None:
    """The output is an input, or a formula of one operator over one or two of them."""
    got, wrong = f.numbers[0], f.wrong
    if wrong.sum() < FEWEST or not np.isfinite(got[wrong]).all() or np.ptp(got[wrong]) == 0:
        return None
    for how, value, causes in _formulas(f):
        if value.shape != got.shape or f.same(got, np.flip(f.numbers[1])):
            continue  # what is only reversed is told as that
        if f.same(got[wrong], value[wrong]) and (f.same(got, value) or _mostly(f)):
            return Pattern(f"{f.name} is {how}", causes)
    return None


def _mostly(f: Failure) -> bool:
    """True if more elements are wrong than chance makes equal."""
    return bool(f.wrong.mean() > 0.5)


def _formulas(f: Failure) -> Iterator[tuple[str, np.ndarray, tuple[str, ...]]]:
    """Yield formulas, their values and their causes; the simplest first."""
    known = list(operands(f))[:MOST_OPERANDS]
    whole = [(name, value) for name, value, how in known if not how]
    with np.errstate(all="ignore"):
        for name, value in whole:
            rest = "the other operands are left out, or a line that should change it does not run"
            yield f"{name} as it is", value, (rest, "the wrong array is stored")
        for form, make in UNARY.items():
            for name, value in whole:
                yield form.format(name), make(value), _causes_of_one(form, name)
        for (name, value, way), (other, second, how) in product(known, known):
            if name == other:
                continue
            for form, combine in BINARY.items():
                if (form not in ORDERED and name > other) or (way and how):
                    continue
                told = form.format(name, other) + (way or how)
                yield told, combine(value, second), _causes(way or how)


def _causes_of_one(form: str, name: str) -> tuple[str, ...]:
    if form == "2 * {0}":
        return (f"+ stands where * should, or {name} is added twice", OTHER)
    if form == "abs({0})":
        return ("a sign is lost on the way", OTHER)
    return (OTHER,)


def _causes(how: str) -> tuple[str, ...]:
    if how:
        axis = how.rsplit(" ", 1)[-1]
        return (f"the vector is indexed by the {axis} where it goes by the other axis", OTHER)
    return (f"{OTHER}: + for *, a side of a difference, or max for min",)


def operands(f: Failure) -> Iterator[tuple[str, np.ndarray, str]]:
    """Yield inputs in the shape of the output: name, values, and how a vector was indexed."""
    shape = f.got.shape
    for name, array in f.arrays.items():
        if array.shape == shape:
            yield name, array, ""
    for name, number in f.scalars.items():
        yield name, np.full(shape, number), ""
    for name, array in f.arrays.items():
        if array.ndim == 1 and len(shape) == 2:
            rows, cols = np.indices(shape)
            yield name, array[cols % array.size], f", with {name} taken by the column"
            yield name, array[rows % array.size], f", with {name} taken by the row"
