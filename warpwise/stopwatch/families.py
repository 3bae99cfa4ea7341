"""How far the stopwatch is off, by families of kernels whose times are published.

The published points stand in one table, in which ``make stopwatch`` writes its predictions; a new
point has any number there until then. A kernel gets its range from all points that the same kind of
thing binds: as wide as four fifths of them need it."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

POINTS = Path(__file__).parent / "published" / "points.csv"
COVERED = 0.8  #: share of the published points that lie within a range
ENOUGH = 5  #: points from which a range is made
#: Resources that are taken together, as few published kernels are bound by each of them.
ALIKE = {
    "issue slots": "arithmetic",
    "float32 arithmetic": "arithmetic",
    "integer arithmetic": "arithmetic",
    "float64 arithmetic": "arithmetic",
    "register banks": "arithmetic",
}
UNKNOWN = 0.5  #: range for kernels like none of the published ones, to both sides


@dataclass(frozen=True)
class Point:
    """A published figure and the predicted one, in the same unit, with the published one's source.

    ``size``: of a matrix's side, an array or, for streams, a block. ``ghz``: the clock at which it
    was measured, where the source says that it was locked."""

    family: str
    ladder: str
    device: str
    kernel: str
    size: int
    unit: str
    published: float
    predicted: float
    source: str
    ghz: float | None = None
    binds: str = ""  #: what the model says it is bound by

    @property
    def error(self) -> float:
        """Predicted over published time, less 1."""
        if self.unit == "us":
            return self.predicted / self.published - 1
        return self.published / self.predicted - 1

    @property
    def longer(self) -> float:
        """Published over predicted time, less 1: by how much a range around the latter misses."""
        return 1 / (1 + self.error) - 1


@dataclass(frozen=True)
class Family:
    """Published points: how many, their mean error, and the worst, as shares.

    ``within``: four fifths of the published times lie no farther from the predicted ones."""

    name: str
    points: int
    mean: float
    within: float
    worst: float

    def __str__(self) -> str:
        return (
            f"{self.name}, {self.points} published points, "
            f"{100 * COVERED:.0f} % of them within {100 * self.within:.0f} %"
        )


@cache
def points() -> tuple[Point, ...]:
    """Return all published points as they were predicted last."""
    with open(POINTS, newline="", encoding="utf-8") as file:
        return tuple(_point(row) for row in csv.DictReader(file))


def _point(row: dict[str, str]) -> Point:
    numbers = {"size": int(row["size"]), "ghz": float(row["ghz"]) if row["ghz"] else None} | {
        name: float(row[name]) for name in ("published", "predicted")
    }
    return Point(**row | numbers)  # type: ignore[arg-type]


@cache
def families() -> dict[str, Family]:
    """Return the families by name."""
    found: dict[str, list[Point]] = defaultdict(list)
    for point in points():
        found[point.family].append(point)
    return {name: family_of(name, own) for name, own in found.items()}


def family_of(name: str, own: Sequence[Point]) -> Family:
    """Return what the errors of some points come to."""
    errors = [point.error for point in own]
    away = sorted(abs(point.longer) for point in own)
    within = away[ceil(COVERED * len(away)) - 1]
    return Family(name, len(own), sum(map(abs, errors)) / len(own), within, max(errors, key=abs))


@cache
def nearest(binds: str) -> Family | None:
    """Return the published kernels that the same kind of thing binds, None if they are too few."""
    kind = ALIKE.get(binds, binds)
    own = [p for p in points() if ALIKE.get(p.binds, p.binds) == kind]
    return family_of(f"kernels bound by {kind}", own) if len(own) >= ENOUGH else None


@cache
def coverage() -> float:
    """Return the share of published times that lie within a range made without their ladder.

    Points of kinds for which the other ladders have too few are left out."""
    inside, asked = 0, 0
    for point in points():
        kind = ALIKE.get(point.binds, point.binds)
        others = [
            p
            for p in points()
            if ALIKE.get(p.binds, p.binds) == kind and _source(p) != _source(point)
        ]
        if len(others) >= ENOUGH:
            asked += 1
            inside += abs(point.longer) <= family_of(kind, others).within
    return inside / max(1, asked)


def _source(point: Point) -> tuple[str, str]:
    """Return whose measurement a point is: one ladder on one device, or one benchmark on it."""
    return point.ladder.split()[0], point.device
