"""Run a wrong kernel, or function, again on inputs of which no two numbers are equal.

Equal numbers are where < and <= differ, and where a maximum comes twice. If a result is wrong for a
case that has some, and right once they all differ, what is done with equals is the mistake, or what
is done with zeros where the equal ones are those.

Students' functions run here, so it is for their own machine and never for the grader."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise.labs.compare import compare
from warpwise.labs.exercise import Alone, copied
from warpwise.labs.sides import arrays_of, of_case

FEWEST = 2  # equal numbers of an array's, beyond which it has ties
SPREAD = 0.1  # of the usual size of an array's numbers, by which they are moved apart
RIGHT = "once the numbers of {names} all differ, the result is right"


def named(target: Any, case: Alone) -> tuple[str, ...]:
    """Name the inputs whose equal numbers make a result wrong; none if that is not known.

    ``target``: the kernel, or the function, whose result for ``case`` is wrong. Raises TimeIsUp
    if it runs within ``at_most``."""
    if case.reference is None:
        return ()
    run, inputs, _ = of_case(target, case)
    rng = np.random.default_rng(0)
    found = tuple(
        name for name, value in zip(inputs.names, inputs.values, strict=True) if _has_equals(value)
    )
    moved = [
        _apart(rng, value) if name in found else value
        for name, value in zip(inputs.names, inputs.values, strict=True)
    ]
    if not found:
        return ()
    try:
        want, got = arrays_of(case.reference(*map(copied, moved))), run([*map(copied, moved)])
    except (Exception, SystemExit):  # whatever a student's function may raise
        return ()
    right = len(got) == len(want) and all(
        mine.shape == due.shape and compare(mine, due, case.rtol, case.atol) is None
        for mine, due in zip(got, want, strict=True)
    )
    return found if right else ()


def _has_equals(value: Any) -> bool:
    """True for an array of floats of which finite ones are equal."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return False
    known = value[np.isfinite(value)]
    return known.size - np.unique(known).size >= FEWEST - 1


def _apart(rng: np.random.Generator, value: np.ndarray) -> np.ndarray:
    """Return an array whose finite numbers are moved a little, each by an amount of its own."""
    finite = np.isfinite(value)
    usual = float(np.abs(value[finite]).mean()) or 1.0
    steps = SPREAD * usual * rng.uniform(-1, 1, value.shape)
    return np.where(finite, value + steps, value).astype(value.dtype)


def told(names: tuple[str, ...]) -> str:
    """Say that equal numbers are the mistake; "" without any."""
    *first, last = names or ("",)
    joined = f"{', '.join(first)} and {last}" if first else last
    return RIGHT.format(names=joined) if last else ""
