"""Say on which inputs a wrong element depends and should not, and on which it does not and should.

Only the words: ``probes`` finds it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from warpwise.messages import Element, Name

#: what is known of an input
UNTRIED, UNUSED, USED, MISSING, EXTRA = "untried", "unused", "used", "missing", "extra"
MOST_RUNS = 2  # named, of the inputs after the first


class Cell(NamedTuple):
    """One number of the inputs: of an array, or, with an empty index, a number by itself."""

    array: str
    at: tuple[int, ...]

    def __str__(self) -> str:
        return Element(Name(self.array), self.at).open()


@dataclass(frozen=True)
class Difference:
    """What the first wrong element of a result depends on.

    ``element``: as messages name it, such as ``c[0, 0]``, or all of an output without a reference.
    ``cells``: for each input that was changed an array of its shape, of the words above.
    ``left_alone``: whether there are arrays that were not changed, such as indices."""

    element: str
    cells: Mapping[str, np.ndarray]
    compared: bool = True
    left_alone: bool = False

    def all(self, use: str) -> list[Cell]:
        """Return the inputs of which this is known, in order."""
        return [
            Cell(name, tuple(index))
            for name, uses in self.cells.items()
            for index in np.argwhere(uses == use).tolist()
        ]

    @property
    def wrong(self) -> bool:
        """True if an input is missing, or one too many."""
        return any(np.isin(uses, (MISSING, EXTRA)).any() for uses in self.cells.values())

    @property
    def exact(self) -> bool:
        """True if the element depends on the inputs that it should, and on no other."""
        known = self.compared and not self.wrong and not self.all(UNTRIED)
        return known and bool(self.all(USED))

    @property
    def tried(self) -> str:
        """Name what was changed: all inputs, or the elements of some."""
        *others, last = self.cells or ("",)
        joined = f"{', '.join(others)} and {last}" if others else last
        return f"elements of {joined}" if self.left_alone else "inputs"

    def say(self) -> str:
        """Return one sentence, without its full stop; "" if nothing is certain."""
        if not self.compared:
            return self._without_reference()
        missing, extra = self.all(MISSING), self.all(EXTRA)
        clauses = []
        if missing:
            clauses.append(self._missing(missing))
        if extra:
            who = "it" if missing else self.element
            clauses.append(f"{who} depends on {extra[0]}, and should not{_others(extra[1:])}")
        if clauses:
            return "; ".join(clauses)
        if not self.exact:
            return ""
        return (
            f"{self.element} depends on exactly the {self.tried} that it should: "
            "look at what is done with them, and in which order"
        )

    def _missing(self, missing: list[Cell]) -> str:
        """Say what is missing; of an input of which nothing is used, that and how much."""
        first = missing[0]
        same = [cell for cell in missing if cell.array == first.array]
        if len(same) > 1 and not np.isin(self.cells[first.array], (USED, EXTRA, UNTRIED)).any():
            some, others = f"{len(same)} elements of {first.array}", _others(missing[len(same) :])
            return f"{self.element} should depend on {some} and depends on none{others}"
        return f"{self.element} should depend on {first} and does not{_others(missing[1:])}"

    def _without_reference(self) -> str:
        unread = [name for name, uses in self.cells.items() if (uses == UNUSED).all()]
        does = "do" if " and " in self.element else "does"
        on = " and ".join(unread)
        return f"{self.element} {does} not depend on {on} at all" if unread else ""


def _others(cells: list[Cell]) -> str:
    """Return more of the same, in brackets, as ranges where they lie in a row."""
    if not cells:
        return ""
    runs = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in _runs(cells)]
    if len(cells) == 1:
        return f" (nor on {runs[0]})"
    named = ", ".join(runs[:MOST_RUNS])
    return f" (nor on others: {named}{', ...' if len(runs) > MOST_RUNS else ''})"


def _runs(cells: list[Cell]) -> Iterator[list[Cell]]:
    """Yield cells in order, those together that follow each other along one axis."""
    run, step = [cells[0]], None
    for cell in cells[1:]:
        this = _step(run[-1], cell)
        if this is not None and step in (None, this):
            run.append(cell)
            step = this
        else:
            yield run
            run, step = [cell], None
    yield run


def _step(one: Cell, following: Cell) -> int | None:
    """Return the axis along which a cell is the next after another, or None."""
    if one.array != following.array:
        return None
    moved = [b - a for a, b in zip(one.at, following.at, strict=True)]
    return moved.index(1) if sorted(moved) == [0] * (len(moved) - 1) + [1] else None
