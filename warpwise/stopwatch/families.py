"""How far the stopwatch is off, by families of kernels whose times are published.

The published points stand in one table, in which ``make stopwatch`` writes its predictions; a new
point has any number there until then. A kernel gets the range of the family that is limited by the
same kind of thing."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

POINTS = Path(__file__).parent / "published" / "points.csv"
#: By what binds a kernel, the family that is most like it.
FAMILY_OF = {
    "DRAM": "streams",
    "L2": "streams",
    "latency": "reductions",
    "shared memory": "matrix products",
    "L1": "matrix products",
    "float32 arithmetic": "matrix products",
    "issue slots": "matrix products",
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

    @property
    def error(self) -> float:
        """Predicted over published time, less 1."""
        if self.unit == "us":
            return self.predicted / self.published - 1
        return self.published / self.predicted - 1


@dataclass(frozen=True)
class Family:
    """A family of published kernels: points, mean error, and the worst, as shares."""

    name: str
    points: int
    mean: float
    worst: float

    def __str__(self) -> str:
        return f"{self.name}, {self.points} published points, {100 * self.mean:.0f} % mean error"


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
    errors: dict[str, list[float]] = defaultdict(list)
    for point in points():
        errors[point.family].append(point.error)
    return {name: family_of(name, found) for name, found in errors.items()}


def family_of(name: str, errors: list[float]) -> Family:
    """Return what a family's errors come to."""
    mean = sum(map(abs, errors)) / len(errors)
    return Family(name, len(errors), mean, max(errors, key=abs))


def nearest(binds: str) -> Family | None:
    """Return the family of kernels that the same thing binds, None if none was published."""
    return families().get(FAMILY_OF.get(binds, ""))
