"""Find other inputs for which a wrong result would be right: a scale of 1, a matrix transposed.

The reference of a case runs on its inputs with one of them changed. If that gives what the kernel
gave, element by element, the kernel did with the right inputs what is asked for with the others:
so "if b were transposed, this c would be right" is said only where the numbers show it.

Students' functions run here, so it is for their own machine and never for the grader."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from warpwise.labs.compare import compare
from warpwise.labs.exercise import Alone, copied
from warpwise.labs.perturbed import Inputs
from warpwise.labs.sides import arrays_of, of_case

FEWEST = 4  # wrong elements below which agreement tells nothing
CLOSE = 1e-4  # relative error by which two results are one


def explained(target: Any, case: Alone) -> str:
    """Say with which other inputs the result would be right; "" if none is found.

    ``target``: the kernel, or the function, whose result for ``case`` is wrong. Raises TimeIsUp
    if it runs within ``at_most``."""
    if case.reference is None:
        return ""
    run, inputs, outputs = of_case(target, case)
    wants = case.want if isinstance(case.want, tuple) else (case.want,)
    try:
        got = run(_with(inputs, {}))
    except (Exception, SystemExit):  # whatever a student's function may raise
        return ""
    if len(got) != len(wants):
        return ""
    pairs = zip(got, wants, strict=True)
    found = [compare(mine, np.asarray(due), case.rtol, case.atol) for mine, due in pairs]
    shaped = all(one is None or one.got.shape == one.want.shape for one in found)
    if not shaped or sum(int(one.where.sum()) for one in found if one) < FEWEST:
        return ""
    wrong = [number for number, one in enumerate(found) if one]
    if all(np.unique(got[number]).size < FEWEST for number in wrong):
        return ""  # such as zeros, which come about in many ways
    for told, changed in _others(inputs):
        try:
            due = arrays_of(case.reference(*_with(inputs, changed)))
        except (Exception, SystemExit):  # a value that makes no sense
            continue
        if all(_same(got[number], due[number], case) for number in wrong):
            return f"if {told}, {_these([outputs[number] for number in wrong])} would be right"
    return ""


def _these(names: list[str]) -> str:
    if len(names) > 2:
        return "all these results"
    return f"{'this' if len(names) == 1 else 'these'} {' and '.join(names)}"


def _same(got: np.ndarray, due: np.ndarray, case: Alone) -> bool:
    if got.shape != due.shape:
        return False
    rtol, atol = (case.rtol or CLOSE), case.atol
    return compare(got, np.asarray(due), min(rtol, 1e-3), min(atol, 1e-3)) is None


def _with(inputs: Inputs, changed: dict[int, Any]) -> list[Any]:
    """Return the inputs, copied, with others for some."""
    values = [changed.get(number, value) for number, value in enumerate(inputs.values)]
    return [copied(value) for value in values]


def _others(inputs: Inputs) -> Iterator[tuple[str, dict[int, Any]]]:
    """Yield other inputs: what is said of them, and the values that change, by number."""
    for number, (name, value) in enumerate(zip(inputs.names, inputs.values, strict=True)):
        if isinstance(value, float | np.floating):
            for what, other in _other_numbers(name, float(value), inputs):
                yield f"{name} were {what}", {number: type(value)(other)}
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            for other in dict.fromkeys((value + 1, value - 1, 0)):
                if other != value:
                    yield f"{name} were {other}, not {value}", {number: type(value)(other)}
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            yield from (
                (told, {number: np.ascontiguousarray(other)})
                for told, other in _other_arrays(name, value)
            )
    yield from _exchanged(inputs)


def _other_numbers(name: str, value: float, inputs: Inputs) -> Iterator[tuple[str, float]]:
    yield "1", 1.0
    yield f"{name} * {name}", value * value
    if value:
        yield f"1 / {name}", 1 / value
    seen: set[int] = set()
    for array, shape in zip(inputs.names, map(np.shape, inputs.values), strict=True):
        for axis, size in enumerate(shape):
            if size > 1 and size not in seen:
                seen.add(size)
                yield f"1 / sqrt({array}.shape[{axis}])", 1 / math.sqrt(size)
                yield f"1 / {array}.shape[{axis}]", 1 / size


def _other_arrays(name: str, value: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    if value.ndim >= 2 and value.shape[-1] == value.shape[-2] > 1:
        yield f"{name} were transposed", np.swapaxes(value, -1, -2)
    yield f"{name} were all zeros", np.zeros_like(value)
    yield f"{name} were all ones", np.ones_like(value)
    if value.shape[0] > 1:
        index = ", ".join(["0", *":" * (value.ndim - 1)])
        first = np.broadcast_to(value[:1], value.shape)
        yield f"{name}[{index}] stood for all of {name}", first


def _exchanged(inputs: Inputs) -> Iterator[tuple[str, dict[int, Any]]]:
    """Yield the inputs with two arrays of one shape exchanged, or one in the place of the other."""
    arrays = [
        (number, name, value)
        for number, (name, value) in enumerate(zip(inputs.names, inputs.values, strict=True))
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    ]
    for (i, name, value), (j, other, second) in combinations(arrays, 2):
        if value.shape == second.shape:
            yield f"{name} and {other} were exchanged", {i: second, j: value}
            yield f"{name} stood where {other} should", {j: value}
            yield f"{other} stood where {name} should", {i: second}
