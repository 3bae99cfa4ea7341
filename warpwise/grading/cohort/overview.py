"""What a run of the grader shows about a class, as plain values: per lab the scores, the time and what could not be graded, per
exercise how many pass and what keeps the others from it. ``page`` and ``text`` write it down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from warpwise.grading.feedback import Asked, asked
from warpwise.grading.record import SHOWN_PASSED, UNTOUCHED, Record, Result
from warpwise.labs.exercise import MORE_IS_BETTER, Reason
from warpwise.labs.source import Lab

SLOWEST = 5
# What differs between two problems of one kind: names in quotes, numbers, what stands in brackets.
PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|(?<![\w-])\d+(?:[.,]\d+)*|\([^()]*\)")


@dataclass(frozen=True)
class Group:
    """Submissions that have something in common, and what it is."""

    what: str
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Exceeded:
    """A counter beyond its budget: by whom, and the medians of its value, its limit, and how many times the limit it is.

    ``times`` is None where the limit is 0. Of counters that should be large it is the limit that is so many times the value.
    """

    counter: str
    records: tuple[Record, ...]
    value: float
    limit: float
    times: float | None


@dataclass(frozen=True)
class ExerciseOverview:
    """One exercise over all submissions that could be graded. ``alike`` are those of the answer that most have, but for names and
    layout, and fewer than two where no two have the same. ``only_shown`` pass their own check and fail hidden tests.
    """

    id: str
    title: str
    passed: int
    failed: int
    not_tried: int
    reasons: tuple[Group, ...]
    exceeded: tuple[Exceeded, ...]
    behaviours: tuple[Group, ...]
    only_shown: tuple[Record, ...]
    alike: tuple[Record, ...]

    @property
    def graded(self) -> int:
        return self.passed + self.failed + self.not_tried


@dataclass(frozen=True)
class LabOverview:
    """One lab. ``points`` are those of the submissions that could be graded, in order; times are in seconds."""

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
    """The labs in the order of their names, a lab that was not recognised first."""
    return tuple(_lab(stem, [r for r in records if r.lab == stem], labs.get(stem)) for stem in sorted({r.lab for r in records}))


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many in 100 do not exceed; 0 of no values."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)] if ordered else 0.0


def _lab(stem: str, records: Sequence[Record], lab: Lab | None) -> LabOverview:
    graded = [record for record in records if not record.problem]
    seconds = [record.seconds for record in records]
    questions = asked(lab) if lab else {}
    ids = [e.id for e in lab.exercises] if lab else []
    ids += sorted({result.exercise for record in graded for result in record.results} - set(ids))
    return LabOverview(
        stem,
        lab.title if lab else stem or "No lab recognised",
        tuple(records),
        _groups((_kind(record.problem), record) for record in records if record.problem),
        tuple(sorted(record.points for record in graded)),
        max((record.possible for record in graded), default=0.0),
        tuple(_exercise(id, questions.get(id, Asked(id, "")).title, graded) for id in ids) if graded else (),
        median(seconds),
        percentile(seconds, 95),
        tuple(sorted(records, key=lambda record: -record.seconds)[:SLOWEST]),
    )


def _exercise(id: str, title: str, graded: Sequence[Record]) -> ExerciseOverview:
    found = [(record, result) for record in graded for result in record.results if result.exercise == id]
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
        _groups((result.finding.behaviour, record) for record, result in failed if result.finding.behaviour),
        tuple(record for record, result in failed if result.visible.outcome == SHOWN_PASSED),
        _alike(tried),
    )


def _passes(result: Result) -> bool:
    return result.finding.passed and result.finding.reason == Reason.PASSED


def _exceeded(failed: Iterable[tuple[Record, Result]]) -> tuple[Exceeded, ...]:
    """By counter, those most submissions exceed first."""
    over: dict[str, list] = {}
    for record, result in failed:
        for counter in result.finding.counters:
            if counter.over:
                over.setdefault(counter.name, []).append((record, counter))
    made = []
    for name, met in over.items():
        values, limits = [c.value for _, c in met], [c.limit for _, c in met]
        fractions = zip(limits, values, strict=True) if name in MORE_IS_BETTER else zip(values, limits, strict=True)
        times = [a / b for a, b in fractions if b]
        made.append(Exceeded(name, tuple(r for r, _ in met), median(values), median(limits), median(times) if times else None))
    return tuple(sorted(made, key=lambda exceeded: (-len(exceeded.records), exceeded.counter)))


def _alike(tried: Sequence[tuple[Record, Result]]) -> tuple[Record, ...]:
    """The records of the answer that most have; two prints are the same where the program is, but for names and layout."""
    groups = _groups((result.prints, record) for record, result in tried if result.prints)
    return groups[0].records if groups and len(groups[0].records) > 1 else ()


def _groups(found: Iterable[tuple[object, Record]]) -> tuple[Group, ...]:
    """The largest first."""
    groups: dict[object, list[Record]] = {}
    for key, record in found:
        groups.setdefault(key, []).append(record)
    return tuple(Group(str(key), tuple(theirs)) for key, theirs in sorted(groups.items(), key=lambda g: (-len(g[1]), str(g[0]))))


def _kind(problem: str) -> str:
    """A problem without what is particular to one submission."""
    return PARTICULARS.sub("…", problem)
