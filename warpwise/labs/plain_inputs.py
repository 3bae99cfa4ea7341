"""Run a wrong kernel, or function, again on plain inputs, on which its sums count their terms.

With ones everywhere a dot product is the number of its products, and a softmax's output is one over
the number of its elements; with zeros everywhere a log-sum-exp is the logarithm of that number. The
reference of the case runs on the same inputs, and only where its result is such a count is anything
said. Left out: masks and padding, so infinite inputs stay, and so do numbers and integers.

Students' functions run here, so it is for their own machine and never for the grader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise.labs.compare import compare
from warpwise.labs.exercise import Alone, copied
from warpwise.labs.sides import Arrays, arrays_of, of_case
from warpwise.messages import Element, Name

FEWEST = 3  # terms of the longest sum, below which a count tells nothing
MOST = 4000  # beyond it a float32 tells no count from another number
NEAR, ROUNDING = 1e-3, 1e-5  # by which, and by which part of it, a count may be no whole number
ALL_RIGHT = (
    "with {fill} everywhere {outputs} right: each sum has as many terms as it should, so check "
    "which elements they are, and where each result is stored"
)


@dataclass(frozen=True)
class Reading:
    """How to read a count from a result: from all inputs being ``fill``; and how the result is
    written with its count."""

    fill: str
    value: float
    told: str
    count: Callable[[np.ndarray], np.ndarray]


READINGS = (
    Reading("ones", 1.0, "{count}", lambda values: values),
    Reading("ones", 1.0, "1 / {count}", np.reciprocal),
    Reading("zeros", 0.0, "log({count})", np.exp),
)


@dataclass(frozen=True)
class Plain:
    """What plain inputs tell: of the terms of a sum, and whether ones give a right result.

    ``right`` is None where that is not known."""

    told: str = ""
    right: bool | None = None


def counted(target: Any, case: Alone) -> Plain:
    """Say how many terms a sum of a wrong kernel has, and should have, if anything is known.

    ``target``: the kernel, or the function, whose result for ``case`` is wrong. Raises TimeIsUp
    if it runs within ``at_most``."""
    if case.reference is None:
        return Plain()
    run, inputs, outputs = of_case(target, case)
    told, right = "", None
    for value in dict.fromkeys(reading.value for reading in READINGS):
        filled = [_filled(one, value) for one in inputs.values]
        try:
            want, got = arrays_of(case.reference(*map(copied, filled))), run([*map(copied, filled)])
        except (Exception, SystemExit):  # whatever a student's function may raise
            continue
        if len(got) != len(want):
            continue
        readings = [reading for reading in READINGS if reading.value == value]
        if value == 1:
            right = _are_right(got, want, case)
        if differs := next(_differences(readings, outputs, got, want), ""):
            return Plain(differs, right)
        told = told or _all_right(readings[0], outputs, got, want, case)
    return Plain(told, right)


def _are_right(got: Arrays, want: Arrays, case: Alone) -> bool:
    pairs = zip(got, want, strict=True)
    return all(
        mine.shape == due.shape and compare(mine, due, case.rtol, case.atol) is None
        for mine, due in pairs
    )


def _filled(value: Any, by: float) -> Any:
    """Return an input with another number for each of its own; infinities stay."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return np.where(np.isfinite(value), value.dtype.type(by), value)


def _differences(
    readings: Sequence[Reading], outputs: Sequence[str], got: Arrays, want: Arrays
) -> Iterator[str]:
    """Yield what is told of the first count that is wrong, by reading and output."""
    for reading in readings:
        for name, mine, due in zip(outputs, got, want, strict=True):
            if mine.shape != due.shape or mine.dtype.kind != "f" or not mine.size:
                continue
            with np.errstate(all="ignore"):
                counts, right = (reading.count(a.astype(np.float64)) for a in (mine, due))
            if not _are_counts(right) or right.max() < FEWEST:
                continue
            wrong = np.abs(counts - right) > 0.5
            if wrong.any() and _are_counts(counts[wrong]):
                first = tuple(np.argwhere(wrong)[0].tolist())
                element = Element(Name(name), first).open()
                yield _told(reading, element, round(counts[first]), round(right[first]))


def _are_counts(values: np.ndarray) -> bool:
    """True if all are whole numbers that could count something."""
    near = np.abs(values - np.rint(values)) <= NEAR + ROUNDING * np.abs(values)
    return bool((near & (values > -NEAR) & (values < MOST)).all())


def _told(reading: Reading, element: str, got: int, want: int) -> str:
    by = abs(got - want)
    terms = "1 term" if by == 1 else f"{by} terms"
    are = "is" if by == 1 else "are"
    way = f"{terms} {are} missing" if got < want else f"{terms} too many"
    due, found = (reading.told.format(count=count) for count in (want, got))
    return f"with {reading.fill} everywhere {element} should be {due} and is {found}: {way}"


def _all_right(
    reading: Reading, outputs: Sequence[str], got: Arrays, want: Arrays, case: Alone
) -> str:
    """Say that sums have as many terms as they should, where all results are such sums."""
    if not _are_right(got, want, case):
        return ""
    for due in want:
        counts = reading.count(due.astype(np.float64))
        if not _are_counts(counts) or counts.min(initial=FEWEST) < FEWEST:
            return ""
    are = f"{' and '.join(outputs)} {'is' if len(outputs) == 1 else 'are'}"
    return ALL_RIGHT.format(fill=reading.fill, outputs=are)
