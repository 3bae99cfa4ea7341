"""What a run was to grade, and what of it has no record yet.

``expected.json`` lists it before the first submission is graded, in each part of a divided run for
all parts. So a run that was stopped, and a part that was not joined, can be told from a finished
one by whoever reads the folder. A folder of an earlier version has no such list, and counts as
finished."""

from __future__ import annotations

import heapq
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import store
from warpwise.grading.layouts import Submission
from warpwise.grading.record import NOT_YET, Record
from warpwise.grading.store import Kept, Records, Run
from warpwise.labs.whole import whole

NAME = "expected.json"
UNFINISHED = "UNFINISHED"


@dataclass(frozen=True)
class Expected:
    """A submission that a run was to grade; with a ``key`` only a record under that one will do."""

    file: str
    lab: str
    student: str
    name: str = ""
    key: str = ""


@dataclass(frozen=True)
class Plan:
    """What runs into one folder were to grade, by the label of their source in ``run.json``.

    ``parts`` says of which labels this folder holds one part, such as "2/8"."""

    expected: Mapping[str, tuple[Expected, ...]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Expected, ...]:
        by_place = {(e.file, e.lab): e for theirs in self.expected.values() for e in theirs}
        return tuple(by_place.values())


def load(folder: Path) -> Plan:
    """Read what a folder's runs were to grade. Raises GradingError if the file is damaged."""
    try:
        found = json.loads((folder / NAME).read_text("utf-8"))
        expected = {
            label: tuple(Expected(*fields) for fields in theirs)
            for label, theirs in found["expected"].items()
        }
        return Plan(expected, found["parts"])
    except FileNotFoundError:
        return Plan()
    except (OSError, ValueError, TypeError, KeyError) as error:
        again = "delete it and run the same `warpwise grade` again"
        raise GradingError(f"{folder / NAME} is damaged ({error}); {again}") from error


def save(folder: Path, plan: Plan) -> None:
    """Write what a folder's runs are to grade. Raises OSError."""
    expected = {label: list(map(astuple, theirs)) for label, theirs in plan.expected.items()}
    text = json.dumps({"expected": expected, "parts": plan.parts})
    whole(folder / NAME, text, private=True)


def begin(
    folder: Path,
    sources: Mapping[str, str],
    submissions: Sequence[Submission],
    keys: Mapping[tuple[str, str], str],
    shard: tuple[int, int],
) -> None:
    """Write that a run is to grade these submissions, found in the one source.

    ``keys`` are those of submissions whose kept record is out of date. What an earlier run found in
    the same source and took for another lab is no longer expected. Raises OSError."""
    ((label, source),) = sources.items()
    before, kept = load(folder), store.about(folder).get("sources", {})
    files = {s.file for s in submissions}
    expected = {
        other: tuple(e for e in theirs if kept.get(other) != source or e.file not in files)
        for other, theirs in before.expected.items()
    }
    expected[label] = tuple(
        Expected(s.file, s.lab, s.student, s.name, keys.get((s.file, s.lab), ""))
        for s in submissions
    )
    i, n = shard
    parts = {other: part for other, part in before.parts.items() if other != label}
    save(folder, Plan(expected, parts | ({label: f"{i}/{n}"} if n > 1 else {})))


def end(folder: Path) -> None:
    """Forget the keys of records that are up to date now. Raises OSError."""
    plan = load(folder)
    expected = {
        label: tuple(replace(e, key="") if e.key and _graded(folder, e) else e for e in theirs)
        for label, theirs in plan.expected.items()
    }
    save(folder, replace(plan, expected=expected))


def joined(plans: Sequence[Plan]) -> Plan:
    """Return what the parts of a run were to grade together."""
    expected: dict[str, dict[tuple[str, str], Expected]] = {}
    for plan in plans:
        for label, theirs in plan.expected.items():
            of_label = expected.setdefault(label, {})
            for e in theirs:
                known = of_label.setdefault((e.file, e.lab), e)
                of_label[e.file, e.lab] = e if e.key else known  # the part whose it is has the key
    return Plan({label: tuple(theirs.values()) for label, theirs in expected.items()})


def missing(folder: Path, plan: Plan | None = None) -> tuple[Expected, ...]:
    """Return the submissions that have no record yet. Raises GradingError for damaged files."""
    return tuple(e for e in (plan or load(folder)).all if not _graded(folder, e))


def _graded(folder: Path, e: Expected) -> bool:
    place = store.path(folder, e.file, e.lab)
    return place.exists() and (not e.key or store.read(place).key == e.key)


def replaced(run: Run) -> Records:
    """Return the records of files that a student has replaced by another for the same lab.

    The last run did not find the file any more, and graded the other one. Platforms name an upload
    anew each time, so that this is how a second attempt comes. Such records are kept, and count
    nowhere. Raises GradingError for damaged records."""
    folder, there = run.folder, run.records.names
    found = {store.path(folder, e.file, e.lab).name: (e.student, e.lab) for e in load(folder).all}
    gone = [name for name in there if found and name not in found]
    whose = {name: (r.student, r.lab) for name, r in zip(gone, Records(folder, gone), strict=True)}
    lost = set(whose.values())
    again = [name for name in there if found.get(name) in lost]
    graded = {(r.student, r.lab) for r in Records(folder, again) if not r.problem}
    return Records(folder, [name for name in gone if whose[name] in graded])


def current(run: Run) -> Run:
    """Return a run without the records of files that were replaced."""
    return without(run, replaced(run))


def without(run: Run, records: Records) -> Run:
    """Return a run without some of its records."""
    gone = set(records.names)
    names = [name for name in run.records.names if name not in gone]
    return replace(run, records=Records(run.folder, names))


def said(folder: Path) -> str:
    """Say how much of a run is missing, and what to do; "" of a finished one."""
    plan = load(folder)
    left = missing(folder, plan)
    if not left:
        return ""
    count = f"{len(left)} of {len(plan.all)} submissions are not graded yet"
    if plan.parts:
        part = ", ".join(plan.parts.values())
        return f"{UNFINISHED}: {count}; this is part {part}, join the parts with `warpwise merge`"
    sources = store.about(folder).get("sources", {})
    label = next(label for label, theirs in plan.expected.items() if set(theirs) & set(left))
    lab = f" --lab {label}" if label else ""
    source, out = (shlex.quote(str(path)) for path in (sources.get(label, "SUBMISSIONS"), folder))
    again = f"`warpwise grade {source} --out {out}{lab}`"
    return f"{UNFINISHED}: {count}; go on with {again} and the other options it had"


def kept(run: Run) -> Iterator[Kept]:
    """Yield all records in order, with a stand-in for each submission not graded yet."""
    left = [Record(e.student, e.file, e.lab, (), NOT_YET, name=e.name) for e in missing(run.folder)]
    places = {(r.file, r.lab) for r in left}
    there = (k for k in run.records.kept() if (k.record.file, k.record.lab) not in places)
    stand_ins = (Kept("", 0, r) for r in sorted(left, key=store.order))
    return heapq.merge(there, stand_ins, key=lambda k: store.order(k.record))
