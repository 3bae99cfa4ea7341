"""The report on a class as plain values, which ``page`` and ``text`` write down.

For each lab: the scores, the time, and what could not be graded. For each exercise: how many pass,
and what keeps the others from passing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from warpwise.grading.feedback.values import Question, questions
from warpwise.grading.record import SHOWN_PASSED, UNTOUCHED, Counter, Record, Result
from warpwise.labs.exercise import Reason
from warpwise.labs.source import Lab
from warpwise.metrics import MORE_IS_BETTER

SLOWEST = 5
# Differs between two problems of one kind: names in quotes, numbers, text in brackets.
PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|(?<![\w-])\d+(?:[.,]\d+)*|\([^()]*\)")


@dataclass(frozen=True)
class Group:
    """Submissions with something in common: ``what``."""

    what: str
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Exceeded:
    """A counter beyond its budget: whose, and the medians of its value, its limit and the excess.

    ``times`` is value over limit, or for counters that should be large limit over value; None where
    the limit is 0."""

    counter: str
    records: tuple[Record, ...]
    value: float
    limit: float
    times: float | None


@dataclass(frozen=True)
class ExerciseOverview:
    """One exercise over all submissions that could be graded.

    ``alike`` share the most common answer, but for names and layout; empty where no two share one.
    ``only_over_budget`` are right in every hidden case; ``only_shown`` pass their own check and
    fail hidden tests."""

    id: str
    title: str
    passed: int
    failed: int
    not_tried: int
    reasons: tuple[Group, ...]
    exceeded: tuple[Exceeded, ...]
    behaviours: tuple[Group, ...]
    only_over_budget: tuple[Record, ...]
    only_shown: tuple[Record, ...]
    alike: tuple[Record, ...]

    @property
    def graded(self) -> int:
        return self.passed + self.failed + self.not_tried


@dataclass(frozen=True)
class LabOverview:
    """One lab. ``points`` are those of the submissions that could be graded, in ascending order."""

    stem: str
    title: str
    records: tuple[Record, ...]
    problems: tuple[Group, ...]
    points: tuple[float, ...]
    possible: float
    exercises: tuple[ExerciseOverview, ...]
    median_seconds: float
    most_seconds: float  #: 95 of 100 submissions take at most this
    slowest: tuple[Record, ...]

    @property
    def not_isolated(self) -> int:
        return sum(not record.isolated for record in self.records)


def overview(records: Sequence[Record], labs: Mapping[str, Lab]) -> tuple[LabOverview, ...]:
    """Return the labs in the order of their stems; files of no known lab come first."""
    return tuple(
        _lab(stem, [r for r in records if r.lab == stem], labs.get(stem))
        for stem in sorted({r.lab for r in records})
    )


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that so many in 100 do not exceed; 0 for no values."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)] if ordered else 0.0


def _lab(stem: str, records: Sequence[Record], lab: Lab | None) -> LabOverview:
    graded = [record for record in records if not record.problem]
    seconds = [record.seconds for record in records]
    asked = questions(lab) if lab else {}
    ids = [e.id for e in lab.exercises] if lab else []
    ids += sorted({result.exercise for record in graded for result in record.results} - set(ids))
    return LabOverview(
        stem,
        lab.title if lab else stem or "No lab recognised",
        tuple(records),
        _groups((_kind(record.problem), record) for record in records if record.problem),
        tuple(sorted(record.points for record in graded)),
        max((record.possible for record in graded), default=0.0),
        tuple(_exercise(id, asked.get(id, Question(id)).title, graded) for id in ids)
        if graded
        else (),
        median(seconds),
        percentile(seconds, 95),
        tuple(sorted(records, key=lambda record: -record.seconds)[:SLOWEST]),
    )


def _exercise(id: str, title: str, graded: Sequence[Record]) -> ExerciseOverview:
    found = [
        (record, result) for record in graded for result in record.results if result.exercise == id
    ]
    tried = [(record, result) for record, result in found if result.finding.reason not in UNTOUCHED]
    failed = [(record, result) for record, result in tried if not _passes(result)]
    return ExerciseOverview(
        id,
        title,
        len(tried) - len(failed),
        len(failed),
        len(found) - len(tried),
        _groups((result.finding.reason, record) for record, result in failed),
        _exceeded(failed),
        _groups(
            (result.finding.behaviour, record)
            for record, result in failed
            if result.finding.behaviour
        ),
        tuple(record for record, result in failed if result.finding.only_over_budget),
        tuple(record for record, result in failed if result.visible.outcome == SHOWN_PASSED),
        _alike(tried),
    )


def _passes(result: Result) -> bool:
    return result.finding.passed and result.finding.reason == Reason.PASSED


def _exceeded(failed: Iterable[tuple[Record, Result]]) -> tuple[Exceeded, ...]:
    """Group by counter; those that most submissions exceed come first."""
    over: dict[str, list[tuple[Record, Counter]]] = {}
    for record, result in failed:
        for counter in result.finding.counters:
            if counter.over:
                over.setdefault(counter.name, []).append((record, counter))
    made = []
    for name, met in over.items():
        values, limits = [c.value for _, c in met], [c.limit for _, c in met]
        above, below = (limits, values) if name in MORE_IS_BETTER else (values, limits)
        times = [a / b for a, b in zip(above, below, strict=True) if b]
        whose = tuple(r for r, _ in met)
        excess = median(times) if times else None
        made.append(Exceeded(name, whose, median(values), median(limits), excess))
    return tuple(sorted(made, key=lambda exceeded: (-len(exceeded.records), exceeded.counter)))


def _alike(tried: Sequence[tuple[Record, Result]]) -> tuple[Record, ...]:
    """Return the records that share the most common answer, if any two do.

    Two fingerprints are the same where the program is, but for names and layout."""
    groups = _groups((result.prints, record) for record, result in tried if result.prints)
    return groups[0].records if groups and len(groups[0].records) > 1 else ()


def _groups(found: Iterable[tuple[object, Record]]) -> tuple[Group, ...]:
    """Group records by key, the largest group first."""
    groups: dict[object, list[Record]] = {}
    for key, record in found:
        groups.setdefault(key, []).append(record)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), str(group[0])))
    return tuple(Group(str(key), tuple(theirs)) for key, theirs in ordered)


def _kind(problem: str) -> str:
    """Reduce a problem to its kind, without the particulars of one submission."""
    return PARTICULARS.sub("…", problem)
