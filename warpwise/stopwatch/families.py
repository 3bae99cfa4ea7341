"""How far the stopwatch is off, by families of kernels whose times are published or measured here.

The published points stand in one table, in which ``make stopwatch`` writes its predictions; a new
point has any number there until then. ``tools/predict_again.py`` writes the other, of times that
this course measured. A kernel gets its range from all times that the same kind of thing binds: four
fifths of the published ones lie within it and four fifths of the measured ones, whether each time
counts alike or each family. That is a record of errors; nothing in the model is fitted to it."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path
from random import Random

POINTS = Path(__file__).parent / "published" / "points.csv"
MEASURED = Path(__file__).parent / "published" / "measured.csv"
COVERED = 0.8  #: share of the published times, and of those measured here, within a range
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

    @property
    def benchmark(self) -> str:
        """Whose measurement it is, on whatever device."""
        return self.ladder.split()[0]


@dataclass(frozen=True)
class Timed:
    """A time that this course measured, and what the model says of it since, in milliseconds.

    The model has seen these times; a suite is taken for a family."""

    suite: str
    case: str
    variant: str
    device: str
    measured: float
    predicted: float
    binds: str

    @property
    def error(self) -> float:
        """Predicted over measured time, less 1."""
        return self.predicted / self.measured - 1

    @property
    def longer(self) -> float:
        """Measured over predicted time, less 1."""
        return self.measured / self.predicted - 1

    @property
    def family(self) -> str:
        return f"{self.suite} on an {self.device}"

    @property
    def benchmark(self) -> str:
        return self.family


@dataclass(frozen=True)
class Family:
    """Published points: how many, their mean error, and the worst, as shares.

    ``within``: four fifths of the times lie no farther from the predicted ones. ``measured``: how
    many times of this course it was made of besides."""

    name: str
    points: int
    mean: float
    within: float
    worst: float
    measured: int = 0

    def __str__(self) -> str:
        of = f"{self.points} published points, mean error {100 * self.mean:.0f} %,"
        if self.measured:
            of += f" and {self.measured} times measured for this course,"
        whose = "each" if self.measured else "them"
        share, within = f"{100 * COVERED:.0f} %", f"{100 * self.within:.0f} %"
        return f"{self.name}, {of} {share} of {whose} within {within}"


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


def replayed(each: int = 2, seed: int = 0) -> tuple[Point, ...]:
    """Return the points that an ordinary run of the tests predicts again, some of each family.

    Without products, each of which takes seconds."""
    drawn, own = Random(seed), defaultdict(list)
    for point in points():
        own[point.family].append(point)
    return tuple(
        point
        for name, some in own.items()
        if name != "matrix products"
        for point in drawn.sample(some, min(each, len(some)))
    )


@cache
def devices() -> frozenset[str]:
    """Return the devices on which a published kernel ran."""
    return frozenset(point.device for point in points())


@cache
def families() -> dict[str, Family]:
    """Return the families by name."""
    found: dict[str, list[Point]] = defaultdict(list)
    for point in points():
        found[point.family].append(point)
    return {name: family_of(name, own) for name, own in found.items()}


def family_of(name: str, own: Sequence[Evidence]) -> Family:
    """Return what the errors of some points come to."""
    errors = [point.error for point in own]
    away = sorted(abs(point.longer) for point in own)
    within = away[ceil(COVERED * len(away)) - 1]
    return Family(name, len(own), sum(map(abs, errors)) / len(own), within, max(errors, key=abs))


@cache
def timed() -> tuple[Timed, ...]:
    """Return the times that this course measured, as they were predicted last.

    Without those whose prediction was doubtful."""
    with open(MEASURED, newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    return tuple(
        Timed(**row | {name: float(row[name]) for name in ("measured", "predicted")})  # type: ignore[arg-type]
        for row in rows
    )


Evidence = Point | Timed


@cache
def nearest(binds: str) -> Family | None:
    """Return what is known of kernels that the same kind of thing binds.

    None if fewer than ENOUGH are published."""
    kind = kind_of(binds)
    own, ours = alike(kind, points()), alike(kind, timed())
    if len(own) < ENOUGH:
        return None
    found = family_of(f"kernels bound by {kind}", own)
    return replace(found, within=width(own, ours), measured=len(ours))


def kind_of(binds: str) -> str:
    return ALIKE.get(binds, binds)


def alike(kind: str, every: Sequence[Evidence]) -> list[Evidence]:
    return [one for one in every if kind_of(one.binds) == kind]


def width(*groups: Sequence[Evidence]) -> float:
    """Return the least width that holds four fifths of each group, however they are counted."""
    needed = [0.0]
    for own in filter(None, groups):
        of = Counter(one.family for one in own)
        needed += [_holds(own, dict.fromkeys(of, 1)), _holds(own, of)]
    return max(needed)


def _holds(own: Sequence[Evidence], parts: Mapping[str, int]) -> float:
    """Return the least width that holds four fifths, where a time is one of its family's parts."""
    left = COVERED * sum(1 / parts[one.family] for one in own)
    found = 0.0
    for one in sorted(own, key=lambda one: abs(one.longer)):
        if left < 1e-9:
            break
        found = abs(one.longer)
        left -= 1 / parts[one.family]
    return found


@dataclass(frozen=True)
class Coverage:
    """How many times lie within the range of their kind: published ones, and measured ones.

    ``others``: the same of both, by ranges that were made without their own benchmark or suite,
    and how many of them others suffice for."""

    kind: str
    within: float
    published: tuple[int, int]
    measured: tuple[int, int]
    others: tuple[int, int]


@cache
def coverages() -> tuple[Coverage, ...]:
    """Return the coverage of each kind that has a range, by name."""
    kinds = sorted({kind_of(point.binds) for point in points()})
    return tuple(_coverage(kind, family) for kind in kinds if (family := nearest(kind)))


def _coverage(kind: str, family: Family) -> Coverage:
    own, ours = alike(kind, points()), alike(kind, timed())
    held = [
        (sum(abs(one.longer) <= family.within for one in group), len(group))
        for group in (own, ours)
    ]
    inside, asked = 0, 0
    for one in own + ours:
        rest = [[p for p in group if p.benchmark != one.benchmark] for group in (own, ours)]
        if sum(map(len, rest)) >= ENOUGH:
            asked += 1
            inside += abs(one.longer) <= width(*rest)
    return Coverage(kind, family.within, held[0], held[1], (inside, asked))


def coverage() -> float:
    """Return the share of times within ranges that were made without their own benchmark.

    Those of kinds for which the others have too few are left out."""
    inside, asked = map(sum, zip(*(c.others for c in coverages()), strict=True))
    return inside / max(1, asked)
