"""Find out on which inputs a wrong element of a result depends, and on which it should.

The kernel, or the student's function, and the reference of the case run again on changed inputs.
An element *depends* on an input here if it changes when this input alone changes, in one of two
tries: up by more than the spread of its array, or down by a part of it. Both sides get the same
tries, so whatever is told was seen; a dependence that shows in neither try is none. Whole sets of
inputs are changed first, and halved only where that changes something: that makes it affordable.
Left out: inputs that ``perturbed`` leaves alone, and those whose change makes one side fail.

Students' functions run here, so it is for their own machine and never for the grader."""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import count, zip_longest
from typing import Any

import numpy as np

from warpwise.labs.compare import Mismatch, compare
from warpwise.labs.differences import EXTRA, MISSING, UNTRIED, UNUSED, USED, Difference
from warpwise.labs.exercise import Call, Case, InOut, Launch, Out
from warpwise.labs.judge import MAX_STEPS, fresh
from warpwise.labs.limit import TimeIsUp, at_most
from warpwise.labs.lookup import name_of
from warpwise.labs.perturbed import DOWN, UP, Inputs, inputs_of
from warpwise.messages import Element, Name
from warpwise.simt import as_kernel, run_unwatched

SECONDS = 0.5  #: of processor time, for all tries together
FOR_REFERENCE = 0.3  # the part of it in which the reference is tried, by itself
NOISE = 32  # rounding errors, of the result's type, by which an element that depends not may differ
CLEAR = 10  # times as much: it depends
AGREES = 3  # times as much: two sides move alike
MIXED = "mixed"  # said of cells that may differ from one another

Arrays = tuple[np.ndarray, ...]
Run = Callable[[Sequence[Any]], Arrays]  # from the inputs of a case to all its outputs
Test = Callable[[np.ndarray], str]  # from cells to what all of them are, or MIXED
Marks = Iterator[tuple[np.ndarray, str]]
NONE = np.empty(0, int)  # no cells
# which sets to halve first: so whole rows are found early, and so single cells
LARGEST, SMALLEST = -1, 1


def difference(target: Any, case: Case, seconds: float = SECONDS) -> Difference | None:
    """Return what the first wrong element depends on, as far as that is found in so many seconds.

    ``target``: the kernel, or the function, whose result for ``case`` is wrong. Returns None if
    there is nothing to tell: the result is right, or of another shape, or no number, or the target
    or the reference does not give the same again."""
    side = _of_launch(target, case) if isinstance(case, Launch) else _of_call(target, case)
    probe = _Probe(case, *side, deadline=time.process_time() + seconds, seconds=seconds)
    with _silence(), contextlib.suppress(TimeIsUp), at_most(2 * seconds):
        probe.search()
    return probe.found


def _of_launch(kernel: Any, launch: Launch) -> tuple[Run, Inputs, tuple[str, ...]]:
    """Return how to run a kernel, its inputs, and the names of its outputs."""
    named = list(zip(as_kernel(kernel).parameters, launch.args, strict=True))
    inputs = [(name, arg) for name, arg in named if not isinstance(arg, Out)]
    outs = tuple(name for name, arg in named if isinstance(arg, Out | InOut))
    starts = [arg.start if isinstance(arg, InOut) else arg for _, arg in inputs]

    def run(values: Sequence[Any]) -> Arrays:
        left = iter(values)
        args = [fresh(arg) if isinstance(arg, Out) else next(left) for arg in launch.args]
        run_unwatched(kernel, launch.blocks, launch.threads, *args, max_steps=MAX_STEPS)
        pairs = zip(launch.args, args, strict=True)
        return tuple(now for arg, now in pairs if isinstance(arg, Out | InOut))

    return run, inputs_of((name for name, _ in inputs), starts), outs


def _of_call(function: Any, call: Call) -> tuple[Run, Inputs, tuple[str, ...]]:
    """Return how to call a function, its inputs, and what messages call its results."""
    name = f"{name_of(function)}(...)"
    several = type(call.want) is tuple
    outs = tuple(f"{name}[{i}]" for i in range(len(call.want))) if several else (name,)
    parameters = list(inspect.signature(function).parameters)
    named = len(parameters) == len(call.args)
    names = parameters if named else [f"argument {i}" for i in range(len(call.args))]
    return lambda values: _arrays(function(*values)), inputs_of(names, call.args), outs


def _arrays(value: Any) -> Arrays:
    return tuple(map(np.asarray, value if isinstance(value, tuple) else (value,)))


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep quiet whatever students' functions print, and warnings about the changed numbers."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


@dataclass
class _Side:
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
        try:
            outputs = self.run(self.inputs.changed(cells, way))
            return float(outputs[self.output][self.where])
        except (Exception, SystemExit):
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
        clear = True
        for way in (UP, DOWN):
            far = self.moves(cells, way)
            if far is not None and far > CLEAR:
                return True
            clear = clear and far is not None and far <= 1
        return False if clear else None


@dataclass
class _Probe:
    """The search, and what is known so far: ``uses`` has a word for each cell."""

    case: Case
    run: Run
    inputs: Inputs
    outputs: tuple[str, ...]
    deadline: float
    seconds: float
    element: str = ""
    uses: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.uses = np.full(sum(self.inputs.sizes), UNTRIED, "U7")

    @property
    def found(self) -> Difference | None:
        """What there is to tell, if there is anything."""
        cells = {
            self.inputs.names[i]: self.uses[self.inputs.of(i)].reshape(
                np.shape(self.inputs.values[i])
            )
            for i in self.inputs.changeable
        }
        told = Difference(self.element, cells, compared=self.case.reference is not None)
        return told if told.say() else None

    def search(self) -> None:
        """Find out what the first wrong element depends on; raises TimeIsUp."""
        reference = self.case.reference
        if reference is None:
            self._whole_arrays()
            return
        if (found := self._first_wrong()) is None:
            return
        output, where, wrong = found
        finite = np.abs(wrong.want[np.isfinite(wrong.want)].astype(np.float64))
        kind = wrong.got.dtype
        usual = float(finite.mean()) if finite.size else 0.0
        eps = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
        about = (self.inputs, output, where, usual, eps)
        mine = _Side(self.run, *about)
        theirs = _Side(lambda values: _arrays(reference(*values)), *about)
        same = (mine.start, wrong.got[where]), (theirs.start, wrong.want[where])
        if not all(_near(now, then, self.case) for now, then in same):
            return
        self.element = Element(Name(self.outputs[output]), where).open()
        last = self.deadline - (1 - FOR_REFERENCE) * self.seconds
        self._mark(last, (np.arange(self.uses.size), lambda cells: _needed(theirs, cells), SMALLEST))
        needed, others = (np.flatnonzero(self.uses == use) for use in (USED, UNUSED))
        self.uses[:] = UNTRIED
        self._mark(
            self.deadline,
            (needed, lambda cells: _missing(mine, theirs, cells), LARGEST),
            (others, lambda cells: _too_many(mine, theirs, cells), SMALLEST),
        )

    def _first_wrong(self) -> tuple[int, tuple[int, ...], Mismatch] | None:
        """Return the first wrong element that is a number, with its output's number."""
        wants = self.case.want if isinstance(self.case.want, tuple) else (self.case.want,)
        outputs = self.run(self.inputs.changed(NONE, UP))
        for number, (got, want) in enumerate(zip(outputs, wants, strict=True)):
            wrong = compare(got, np.asarray(want), self.case.rtol, self.case.atol)
            if wrong is None:
                continue
            if wrong.got.shape != wrong.want.shape or wrong.got.dtype.kind not in "fiub":
                return None
            numbers = wrong.where & np.isfinite(wrong.got) & np.isfinite(wrong.want)
            if numbers.any():
                return number, tuple(np.argwhere(numbers)[0].tolist()), wrong
        return None

    def _mark(self, until: float, *searches: tuple[np.ndarray, Test, int]) -> None:
        """Mark what cells are, in turn those of each search, until a time."""
        parted = (self._parted(*search, until) for search in searches if search[0].size)
        with contextlib.suppress(TimeIsUp):
            for steps in zip_longest(*parted, fillvalue=(NONE, UNTRIED)):
                for cells, use in steps:
                    self.uses[cells] = use

    def _parted(self, cells: np.ndarray, test: Test, order: int, until: float) -> Marks:
        """Yield sets of cells with what they are; halve those that are mixed, by ``order``.

        Of a set both halves of which are mixed, these are halved along the other axis, and else
        along the same: so elements of a row, and those of a column, are soon by themselves. A
        single cell that stays mixed is left out. Raises TimeIsUp."""

        def timely(some: np.ndarray) -> str:
            if time.process_time() > until:
                raise TimeIsUp(waited=False)
            return test(some)

        if (use := timely(cells)) != MIXED:
            yield cells, use
            return
        numbers = count()  # of two sets of one size the later first
        waiting = [(0, next(numbers), cells, 1)] if cells.size > 1 else []
        while waiting:
            _, _, cells, axis = heappop(waiting)
            first, second = self._halves(cells, axis)
            use = timely(first)
            # where the first half changes nothing, the second one does
            certain = use == UNUSED and second.size > 1
            halves = [(first, use), (second, MIXED if certain else timely(second))]
            if all(use == MIXED for _, use in halves):
                axis = 3 - axis
            for half, use in halves:
                if use != MIXED:
                    yield half, use
                elif half.size > 1:
                    heappush(waiting, (order * half.size, -next(numbers), half, axis))

    def _halves(self, cells: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """Return cells in two parts: by inputs, or by rows (axis 1) or columns (axis 2)."""
        for column in (0, axis, 3 - axis):
            place = self.inputs.places[cells, column]
            distinct = np.unique(place)
            if distinct.size > 1:
                break
        first = place < distinct[distinct.size // 2]
        return cells[first], cells[~first]

    def _whole_arrays(self) -> None:
        """Mark the inputs that have no effect on any output, which is sure without a reference."""
        self.element = " and ".join(self.outputs)
        before = self.run(self.inputs.changed(NONE, UP))
        for number in self.inputs.changeable:
            if np.asarray(self.inputs.values[number]).dtype.kind != "f":
                continue  # few of all whole numbers are tried
            cells = self.inputs.of(number)
            if time.process_time() > self.deadline:
                return
            if all(self._same(before, cells, way) for way in (UP, DOWN)):
                self.uses[cells] = UNUSED

    def _same(self, before: Arrays, cells: np.ndarray, way: int) -> bool:
        """True if all outputs stay as they were when these cells change."""
        try:
            now = self.run(self.inputs.changed(cells, way))
        except (Exception, SystemExit):
            return False
        return all(a.tobytes() == b.tobytes() for a, b in zip(before, now, strict=True))


# Each of the three says what all of the cells are, or that they are MIXED.


def _needed(theirs: _Side, cells: np.ndarray) -> str:
    depends = theirs.depends(cells)
    if depends is False:
        return UNUSED
    return USED if depends and cells.size == 1 else MIXED


def _missing(mine: _Side, theirs: _Side, cells: np.ndarray) -> str:
    depends = mine.depends(cells)
    if depends is False and mine.depends(cells[:1]) is False:
        return MISSING
    if depends and (cells.size == 1 or _alike(mine, theirs, cells)):
        return USED
    return MIXED


def _too_many(mine: _Side, theirs: _Side, cells: np.ndarray) -> str:
    depends = mine.depends(cells)
    if depends is False:
        return UNUSED
    found = depends and cells.size == 1 and theirs.depends(cells) is False
    return EXTRA if found else MIXED


def _alike(mine: _Side, theirs: _Side, cells: np.ndarray) -> bool:
    """True if both sides move by the same amount in both tries: they use the same of the cells."""
    return all(_same_step(mine, theirs, cells, way) for way in (UP, DOWN))


def _same_step(mine: _Side, theirs: _Side, cells: np.ndarray, way: int) -> bool:
    ends = [(side.start, side.value(cells, way)) for side in (mine, theirs)]
    (a, b), (c, d) = ends
    if a is None or b is None or c is None or d is None:
        return False
    far = mine.between(b - a, d - c)
    return far is not None and far <= AGREES


def _near(now: float | None, then: Any, case: Case) -> bool:
    """True if a value is what it was, or what is wanted, as the case compares."""
    return now is not None and compare(np.array([now]), np.array([float(then)]), case.rtol or 1e-6, case.atol) is None
