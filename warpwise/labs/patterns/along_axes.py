"""Patterns along axes: an input that is reduced along one, or an error that rises along one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern, figure

FEWEST = 3  # different values below which a reduction, or a rise, tells nothing
UNWEIGHTED = (
    "all parts count alike there: is a weight left out, or are the parts not measured against one "
    "maximum before they are added?"
)
REST = "what has to be added to it, such as a logarithm, is left out, or the wrong value is stored"
ADD_BACK = (
    "it is left out of a sum: what was subtracted earlier, such as a maximum before exp, has to be "
    "added to the logarithm at the end"
)
Reduction = Callable[[np.ndarray, int], np.ndarray]


def _log_sum_exp(values: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(np.logaddexp.reduce(values, axis))


#: what a reduction is called, and what is usually missing from it
REDUCTIONS: tuple[tuple[str, Reduction, str], ...] = (
    ("the maximum", lambda a, axis: np.asarray(a.max(axis)), REST),
    ("the minimum", lambda a, axis: np.asarray(a.min(axis)), REST),
    ("the mean", lambda a, axis: np.asarray(a.mean(axis)), UNWEIGHTED),
    ("the sum", lambda a, axis: np.asarray(a.sum(axis)), UNWEIGHTED),
    ("the log-sum-exp", _log_sum_exp, "a term is left out, or the wrong value is stored"),
)


def reduced(f: Failure) -> Pattern | None:
    """The output is an input reduced along one axis, where another function of it is due."""
    got, want = f.numbers
    if f.wrong.sum() < FEWEST or np.unique(got[f.wrong]).size < FEWEST or f.wrong.mean() < 0.5:
        return None
    for name, array in f.arrays.items():
        for axis in range(array.ndim):
            if array.shape[:axis] + array.shape[axis + 1 :] != got.shape or array.shape[axis] < 2:
                continue
            for noun, reduce, cause in REDUCTIONS:
                value = reduce(array, axis)
                if f.same(got[f.wrong], value[f.wrong]) and not f.same(want, value):
                    seen = f"{f.name} is {noun} of {name} along axis {axis}"
                    return Pattern(seen, (cause, "another function of the inputs is computed"))
    return None


def reduction_missing(f: Failure) -> Pattern | None:
    """What is missing from each element, or is too much, is an input reduced along one axis."""
    got, want = f.numbers
    if f.got.dtype.kind != "f" or f.wrong.sum() < FEWEST or f.wrong.mean() < 0.5:
        return None
    gap = (want - got)[f.wrong]
    if not np.isfinite(gap).all() or np.ptp(gap) == 0:
        return None
    for name, array in f.arrays.items():
        for axis in range(array.ndim):
            if array.shape[:axis] + array.shape[axis + 1 :] != got.shape or array.shape[axis] < 2:
                continue
            for noun, reduce, _ in REDUCTIONS[:-1]:
                value = reduce(array, axis)[f.wrong]
                what = f"{noun} of {name} along axis {axis}"
                near = 1e-5 * float(np.abs(want[f.wrong]).max()) + f.atol
                if (np.abs(gap - value) <= near).all():
                    return Pattern(f"{what} is missing from each wrong one", (ADD_BACK,))
                if (np.abs(gap + value) <= near).all():
                    seen = f"{what} is in each wrong one and should not be"
                    return Pattern(seen, ("it is added, and should not be", "a sign is wrong"))
    return None


def rising(f: Failure) -> Pattern | None:
    """Each element is off by its index along an axis, times one number for each line."""
    got, want = f.numbers
    if f.got.dtype.kind != "f" or not (np.isfinite(got).all() and np.isfinite(want).all()):
        return None
    gap = got - want
    for axis in reversed(range(gap.ndim)):
        size = gap.shape[axis]
        if size < FEWEST or not gap.any():
            continue
        index = np.arange(size).reshape([-1 if n == axis else 1 for n in range(gap.ndim)])
        step = (gap * index).sum(axis, keepdims=True) / (index * index).sum()
        near = 1e-5 * max(float(np.abs(want).max()), float(np.abs(gap).max())) + f.atol
        if (np.abs(gap - step * index) > near).any() or np.abs(step * (size - 1)).max() < 10 * near:
            continue
        seen = f"each is off by its index along axis {axis} times {_of(f, step)}"
        line = "the number of the element itself stands where its distance from another one should"
        return Pattern(seen, (f"{line}, or the other way round", "a term with that index is extra"))
    return None


def _of(f: Failure, step: np.ndarray) -> str:
    """Say what the steps are: one number, an input, or one for each line."""
    steps = step.ravel()
    one = bool(np.allclose(steps, steps[0], rtol=1e-3, atol=0))
    for name, array in f.arrays.items():
        for sign, value in (("", array), ("-", -array)):
            if value.size == steps.size and np.allclose(value.ravel(), steps, rtol=1e-3, atol=0):
                return f"{sign}{name}" + ("" if one else ", each line with its own")
    return figure(float(steps[0])) if one else "a number for each line"
