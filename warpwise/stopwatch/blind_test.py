"""Predictions beside measurements: what the stopwatch said of a GPU's suites, and what they took.

A measured row keeps the time that was predicted before it was measured, so these errors stay what
they were when the engine changes later. What it predicts since is in ``AGAIN``, from a model that
has seen the measurements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from warpwise.benchmark_records import FIRST, PREDICTED, folder, is_of, predicted_rows, read
from warpwise.stopwatch.families import kind_of

AGAIN = "again"  #: folder within that of predictions, of those made since
Key = tuple[str, str, str]  #: suite, case, variant


@dataclass(frozen=True)
class Pair:
    """A row's predicted time with its range, and the measured one, in milliseconds."""

    suite: str
    case: str
    variant: str
    predicted: float
    low: float
    high: float
    measured: float

    @property
    def key(self) -> Key:
        return self.suite, self.case, self.variant

    @property
    def error(self) -> float:
        """Predicted over measured time, less 1."""
        return self.predicted / self.measured - 1

    @property
    def within(self) -> bool:
        """Whether the measured time lies within the range."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class Errors:
    """The errors of some rows, as shares; ``within``: rows measured within their range."""

    name: str
    rows: int
    mean: float
    middle: float  #: the median
    worst: float
    within: int


def pairs(device: str = FIRST, where: Path | None = None) -> tuple[Pair, ...]:
    """Return the rows of a GPU's records for which a time had been predicted before.

    ``device``: a word of its name."""
    records = where or folder()
    found = []
    for path in sorted(records.glob("*/*.json")):
        if path.parent.name == PREDICTED or not is_of(device, path.parent.name):
            continue
        record = read(path)
        for row in record.contents["rows"]:
            if row.get("predicted_ms") and row.get("median_ms"):
                expected, low, high = row["predicted_ms"]
                key = record.suite, row["case"], row["variant"]
                found.append(Pair(*key, expected, low, high, row["median_ms"]))
    return tuple(found)


def predicted_again(device: str = FIRST, where: Path | None = None) -> dict[Key, list[float]]:
    """Return the milliseconds predicted since, [expected, least, most], none if there are none."""
    files = ((where or folder()) / PREDICTED / AGAIN).glob("*.json")
    rows = [row for path in files if is_of(device, path.stem) for row in predicted_rows(path)]
    return {
        (row["suite"], row["case"], row["variant"]): row["predicted_ms"]
        for row in rows
        if "predicted_ms" in row
    }


def bound_by(device: str = FIRST, where: Path | None = None) -> dict[Key, str]:
    """Return what bound each row by the model that predicted it before it was measured."""
    files = ((where or folder()) / PREDICTED).glob("*.json")
    rows = [row for path in files if is_of(device, path.stem) for row in predicted_rows(path)]
    return {
        (row["suite"], row["case"], row["variant"]): kind_of(row["binds"])
        for row in rows
        if "binds" in row
    }


def with_times(found: Iterable[Pair], times: Mapping[Key, Sequence[float]]) -> tuple[Pair, ...]:
    """Return the pairs that have other predicted times, with these."""
    changed = []
    for pair in found:
        if pair.key in times:
            expected, low, high = times[pair.key]
            changed.append(replace(pair, predicted=expected, low=low, high=high))
    return tuple(changed)


def errors_of(name: str, own: Sequence[Pair]) -> Errors:
    """Return what the errors of some rows come to."""
    errors = [pair.error for pair in own]
    away = [abs(error) for error in errors]
    inside = sum(pair.within for pair in own)
    return Errors(name, len(own), sum(away) / len(own), median(away), max(errors, key=abs), inside)


def by_suite(found: Iterable[Pair]) -> tuple[Errors, ...]:
    """Return the errors of each suite."""
    return _grouped(found, lambda pair: pair.suite)


def by_resource(found: Iterable[Pair], binds: Mapping[Key, str]) -> tuple[Errors, ...]:
    """Return the errors of rows that the same kind of thing was said to bind, most rows first."""
    groups = _grouped(found, lambda pair: binds[pair.key])
    return tuple(sorted(groups, key=lambda errors: -errors.rows))


def _grouped(found: Iterable[Pair], of: Callable[[Pair], str]) -> tuple[Errors, ...]:
    own = defaultdict(list)
    for pair in found:
        own[of(pair)].append(pair)
    return tuple(errors_of(name, pairs) for name, pairs in own.items())
