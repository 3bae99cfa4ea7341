"""Find out on which inputs a wrong element of a result depends, and on which it should.

The kernel, or the student's function, and the reference of the case run again on changed inputs.
An element *depends* on an input here if it changes when this input alone changes, in one of two
tries: up by more than the spread of its array, or down by a part of it. Both sides get the same
tries, so whatever is told was seen. That an element does not depend on an input is told only if it
rests where all arrays are small, too: elsewhere a softmax may hide that it does. Whole sets of
inputs are changed first, and halved only where that changes something: that makes it affordable.
Left out: inputs that ``perturbed`` leaves alone, and those whose change makes one side fail.

Students' functions run here, so it is for their own machine and never for the grader."""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, zip_longest
from typing import Any

import numpy as np

from warpwise.labs.compare import Mismatch, compare
from warpwise.labs.differences import EXTRA, MISSING, UNTRIED, UNUSED, USED, Difference
from warpwise.labs.exercise import Alone
from warpwise.labs.limit import TimeIsUp, at_most
from warpwise.labs.perturbed import DOWN, UP, Inputs
from warpwise.labs.sides import NONE, Arrays, Run, Side, alike, arrays_of, of_case, tried
from warpwise.messages import Element, Name

SECONDS = 0.5  #: of processor time, for all tries together
FOR_REFERENCE = 0.3  # the part of it in which the reference is tried, by itself
SAME = 1e-6  # relative error of a reference, where a case allows none
MIXED = "mixed"  # said of cells that may differ from one another

Test = Callable[[np.ndarray], str]  # from cells to what all of them are, or MIXED
Marks = Iterator[tuple[np.ndarray, str]]
# which sets to halve first: so whole rows are found early, and so single cells
LARGEST, SMALLEST = -1, 1


def difference(target: Any, case: Alone, seconds: float = SECONDS) -> Difference | None:
    """Return what the first wrong element depends on, as far as that is found in so many seconds.

    ``target``: the kernel, or the function, whose result for ``case`` is wrong. Returns None if
    there is nothing to tell: the result is right, or of another shape, or no number, or the target
    or the reference does not give the same again."""
    probe = _Probe(
        case, *of_case(target, case), deadline=time.process_time() + seconds, seconds=seconds
    )
    with silence(), contextlib.suppress(TimeIsUp), at_most(2 * seconds):
        probe.search()
    return probe.found


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep quiet whatever students' functions print, and warnings about the changed numbers."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


@dataclass
class _Probe:
    """The search, and what is known so far: ``uses`` has a word for each cell."""

    case: Alone
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
        left_alone = any(
            np.ndim(value) and i not in self.inputs.changeable
            for i, value in enumerate(self.inputs.values)
        )
        compared = self.case.reference is not None
        told = Difference(self.element, cells, compared, left_alone)
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
        mine = Side(self.run, *about)
        theirs = Side(lambda values: arrays_of(reference(*values)), *about)
        same = (mine.start, wrong.got[where]), (theirs.start, wrong.want[where])
        if not all(_near(now, then, self.case) for now, then in same):
            return
        self.element = Element(Name(self.outputs[output]), where).open()
        last = self.deadline - (1 - FOR_REFERENCE) * self.seconds
        every = np.arange(self.uses.size)
        self._mark(last, (every, lambda some: _needed(theirs, some), SMALLEST))
        needed, others = (np.flatnonzero(self.uses == use) for use in (USED, UNUSED))
        self.uses[:] = UNTRIED
        self._mark(
            self.deadline,
            (needed, lambda some: _missing(mine, theirs, some), LARGEST),
            (others, lambda some: _too_many(mine, theirs, some), SMALLEST),
        )

    def _first_wrong(self) -> tuple[int, tuple[int, ...], Mismatch] | None:
        """Return the first wrong element that is a number, with its output's number."""
        wants = self.case.want if isinstance(self.case.want, tuple) else (self.case.want,)
        outputs = tried(self.run, self.inputs, NONE, UP)
        if outputs is None or len(outputs) != len(wants):
            return None
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
        before = tried(self.run, self.inputs, NONE, UP)
        if before is None or not any(output.dtype.kind == "f" for output in before):
            return  # a label or a count often stays the same though it depends on an input
        for number in self.inputs.changeable:
            value = np.asarray(self.inputs.values[number])
            if value.dtype.kind != "f" or not value.any():
                continue  # few of all whole numbers are tried, and 0 may hide what it multiplies
            cells = self.inputs.of(number)
            if time.process_time() > self.deadline:
                return
            if all(self._same(before, cells, way) for way in (UP, DOWN)):
                self.uses[cells] = UNUSED

    def _same(self, before: Arrays, cells: np.ndarray, way: int) -> bool:
        """True if all outputs stay as they were when these cells change."""
        now = tried(self.run, self.inputs, cells, way)
        if now is None or len(now) != len(before):
            return False
        return all(a.tobytes() == b.tobytes() for a, b in zip(before, now, strict=True))


# Each of the three says what all of the cells are, or that they are MIXED.


def _needed(theirs: Side, cells: np.ndarray) -> str:
    depends = theirs.depends(cells)
    if depends is False:
        return UNUSED
    return USED if depends and cells.size == 1 else MIXED


def _missing(mine: Side, theirs: Side, cells: np.ndarray) -> str:
    depends = mine.depends(cells)
    if depends is False and mine.depends(cells[:1]) is False:
        return MISSING if mine.calm.rests(cells) and mine.calm.rests(cells[:1]) else MIXED
    if depends and (cells.size == 1 or alike(mine, theirs, cells)):
        return USED
    return MIXED


def _too_many(mine: Side, theirs: Side, cells: np.ndarray) -> str:
    depends = mine.depends(cells)
    if depends is False:
        return UNUSED
    found = depends and cells.size == 1 and theirs.rests(cells, most=0)
    return EXTRA if found and theirs.calm.rests(cells, most=0) else MIXED


def _near(now: float | None, then: Any, case: Alone) -> bool:
    """True if a value is what it was, or what is wanted, as the case compares."""
    if now is None:
        return False
    values = np.array([now]), np.array([float(then)])
    return compare(*values, case.rtol or SAME, case.atol) is None
