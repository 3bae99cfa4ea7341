"""The two sides of a probe: the kernel, or the student's function, and the reference of its case.

Both run again on changed inputs, and are asked for one element of their results. How far that moves
is counted in rounding errors, since a kernel that rescales moves a little whatever changes."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from warpwise.labs.exercise import Alone, Call, Launch, Out, fresh, outputs, value_of, with_value
from warpwise.labs.judge import MAX_STEPS
from warpwise.labs.lookup import name_of, names_of_arguments
from warpwise.labs.perturbed import DOWN, UP, Inputs, inputs_of
from warpwise.simt import as_kernel, run_unwatched

NOISE = 32  # rounding errors, of the result's type, by which an element that depends not may differ
CLEAR = 10  # times as much: it depends
AGREES = 3  # times as much: two sides move alike
NONE = np.empty(0, int)  #: no cells

Arrays = tuple[np.ndarray, ...]
Run = Callable[[Sequence[Any]], Arrays]  #: from the inputs of a case to all its outputs


def of_case(target: Any, case: Alone) -> tuple[Run, Inputs, tuple[str, ...]]:
    """Return how to run a kernel or a function, its inputs, and the names of its outputs."""
    return _of_launch(target, case) if isinstance(case, Launch) else _of_call(target, case)


def _of_launch(kernel: Any, launch: Launch) -> tuple[Run, Inputs, tuple[str, ...]]:
    """Return how to run a kernel, its inputs, and the names of its outputs."""
    named = list(zip(as_kernel(kernel).parameters, launch.args, strict=True))
    inputs = [(name, arg) for name, arg in named if not isinstance(arg, Out)]
    outs = outputs(launch, (name for name, _ in named))
    starts = [value_of(arg) for _, arg in inputs]

    def run(values: Sequence[Any]) -> Arrays:
        left = iter(values)
        args = [
            fresh(arg) if isinstance(arg, Out) else with_value(arg, next(left))
            for arg in launch.args
        ]
        run_unwatched(kernel, launch.blocks, launch.threads, *args, max_steps=MAX_STEPS)
        return outputs(launch, args)

    return run, inputs_of((name for name, _ in inputs), starts), outs


def _of_call(function: Any, call: Call) -> tuple[Run, Inputs, tuple[str, ...]]:
    """Return how to call a function, its inputs, and what messages call its results."""
    name = f"{name_of(function)}(...)"
    several = type(call.want) is tuple
    outs = tuple(f"{name}[{i}]" for i in range(len(call.want))) if several else (name,)
    try:
        parameters = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):  # a function of Python's own
        parameters = []
    names = names_of_arguments(parameters, len(call.args))
    return lambda values: arrays_of(function(*values)), inputs_of(names, call.args), outs


def arrays_of(value: Any) -> Arrays:
    return tuple(map(np.asarray, value if isinstance(value, tuple) else (value,)))


def tried(run: Run, inputs: Inputs, cells: np.ndarray, way: int) -> Arrays | None:
    """Return the outputs for inputs with these cells changed; None if that is an error."""
    try:
        return run(inputs.changed(cells, way))
    except (Exception, SystemExit):  # whatever a student's function may raise
        return None


@dataclass
class Side:
    """The kernel, or the reference: one element of its result, and how that changes.

    ``usual`` is a size that the result's elements have, to which rounding errors are relative."""

    run: Run
    inputs: Inputs
    output: int
    where: tuple[int, ...]
    usual: float
    eps: float
    known: dict[tuple[bytes, int], float | None] = field(default_factory=dict)

    @cached_property
    def start(self) -> float | None:
        """The element as it was."""
        return self.value(NONE, UP)

    def value(self, cells: np.ndarray, way: int) -> float | None:
        """The element for inputs with these cells changed; None if that is an error."""
        key = cells.tobytes(), way
        if key not in self.known:
            self.known[key] = self._tried(cells, way)
        return self.known[key]

    def _tried(self, cells: np.ndarray, way: int) -> float | None:
        outputs = tried(self.run, self.inputs, cells, way)
        try:
            return None if outputs is None else float(outputs[self.output][self.where])
        except (IndexError, TypeError, ValueError):  # of another shape, or no number
            return None

    def moves(self, cells: np.ndarray, way: int) -> float | None:
        """How far the element moves, in rounding errors."""
        value = self.value(cells, way)
        return None if value is None else self.between(self.start, value)

    def between(self, one: float | None, other: float | None) -> float | None:
        """How far apart two values are, in rounding errors; None for what is not known."""
        if one is None or other is None:
            return None
        if one == other or (math.isnan(one) and math.isnan(other)):
            return 0.0
        noise = NOISE * self.eps * max(abs(one), abs(other), self.usual)
        far = abs(one - other) / noise if noise else math.inf
        return far if math.isfinite(far) else math.inf

    def depends(self, cells: np.ndarray) -> bool | None:
        """True if one of the two tries moves the element, None if that is not clear."""
        clear = cells.size == 1 or not self.inputs.whole[cells].any()
        for way in (UP, DOWN):
            far = self.moves(cells, way)
            if far is not None and far > CLEAR:
                return True
            clear = clear and far is not None and far <= 1
        return False if clear else None

    @cached_property
    def calm(self) -> Side:
        """The same side where no array is large, so that no part of a sum hides another.

        There an element that moves at all counts as one that depends."""
        inputs = self.inputs.calm
        return Side(self.run, inputs, self.output, self.where, usual=0.0, eps=self.eps)

    def rests(self, cells: np.ndarray, most: float = 1.0) -> bool:
        """True if the element is finite, and moves by ``most`` at most in both tries, or if the
        inputs themselves are refused, which tells nothing."""
        if self.start is None:
            return True
        if not math.isfinite(self.start):
            return False
        moved = (self.moves(cells, way) for way in (UP, DOWN))
        return all(far is not None and far <= most for far in moved)


def alike(mine: Side, theirs: Side, cells: np.ndarray) -> bool:
    """True if both sides move by the same amount in both tries: they use the same of the cells."""
    return all(_same_step(mine, theirs, cells, way) for way in (UP, DOWN))


def _same_step(mine: Side, theirs: Side, cells: np.ndarray, way: int) -> bool:
    ends = [(side.start, side.value(cells, way)) for side in (mine, theirs)]
    (a, b), (c, d) = ends
    if a is None or b is None or c is None or d is None:
        return False
    far = mine.between(b - a, d - c)
    return far is not None and far <= AGREES
