"""Times of submission from files: a platform's exports, and ``times.csv`` in the graded folder.

They win over those that a platform's download gave, and ``times.csv``, which the grader never
writes, over the rest. A plain folder has no other times: a file in it may be a student's own.

    student,lab,submitted
    ada,08_coalescing,2026-12-01T23:10+01:00
    ben,,2026-12-02T09:00+01:00

A row without a lab is for all labs of the student that no other row names. What a platform exports
is described in ``time_exports``; its times are those of one lab, which the file or its name on the
command line says, or which is the only one that was assigned."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import material
from warpwise.grading.platforms import CANVAS, MOODLE
from warpwise.grading.record import Record
from warpwise.grading.scoring import scores, time_exports
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.roster import Roster, Student
from warpwise.grading.scoring.time_exports import Times

NAME = "times.csv"
SETTING = "times"  # in ``run.json``, followed by the lab
EXPORTS = {
    CANVAS: "Canvas's list of the assignment's submissions",
    MOODLE: "Moodle's grading worksheet",
}
TABLE = "a table with the columns student,lab,submitted"
NOBODYS = "times of students whose submission is not here"


def given(texts: Iterable[str], lab: str | None = None, labs: Sequence[str] = ()) -> dict[str, str]:
    """Return ``[LAB=]FILE`` from the command line as settings, for the ``lab`` that is graded.

    With ``labs``, those that there are, LAB may be any name that ``chosen`` takes. Raises
    GradingError."""
    files: dict[str, list[str]] = {}
    for text in texts:
        named, sign, path = text.partition("=")
        if not sign or "/" in named or Path(text).exists():
            named, path = lab or "", text
        elif labs:
            (named,) = material.meant(labs, [named], "--times: {} is not a lab")
        files.setdefault(named, []).append(str(Path(path).resolve()))
    return {f"{SETTING} {lab}".strip(): json.dumps(paths) for lab, paths in files.items()}


def settled(
    settings: Mapping[str, str], labs: Sequence[str], assigned: Sequence[str], zone: tzinfo | None
) -> dict[str, str]:
    """Return settings in which files of times have their lab, the only one assigned.

    Reads the files, so that their mistakes are found before the work. Raises GradingError."""
    for lab, paths in _files(settings).items():
        _check(lab, labs)
        for path in paths:
            read = time_exports.read(path, labs, zone)
            if not lab and not read.own and any(not time.lab for time in read.times):
                _only(assigned, path)
    found = dict(settings)
    if SETTING in found and len(assigned) == 1:
        found[f"{SETTING} {assigned[0]}"] = found.pop(SETTING)
    return found


def untimed(platform: str, settings: Mapping[str, str], course: Course, labs: Sequence[str]) -> str:
    """Return a line if there are due times and no times of submission, or "" if all is well."""
    due = settings.get("due") or any(course.lab(lab).due for lab in labs)
    if not due or _files(settings):
        return ""
    what = EXPORTS.get(platform, "")
    what = f"{what}, or {TABLE}" if what else TABLE
    return f"there are no times of submission here, so nobody is late; give --times FILE: {what}"


def files(settings: Mapping[str, str], folder: Path) -> list[tuple[str | None, Path]]:
    """List the files of a run with times, each with its lab, "" if it is not known.

    The last is the folder's own ``times.csv``, with None."""
    given = [(lab, Path(path)) for lab, paths in _files(settings).items() for path in paths]
    own = folder / NAME
    return [*given, *([(None, own)] if own.exists() else [])]


def applied(
    records: Iterable[Record],
    files: Sequence[tuple[str | None, Path]],
    labs: Sequence[str],
    assigned: Sequence[str],
    roster: Roster | None,
    zone: tzinfo | None,
) -> tuple[list[Record], tuple[str, ...]]:
    """Return the records with the times in files, of which later ones win, and warnings.

    Raises GradingError, with the line, for what is no time, and in the folder's own table for an
    unknown student."""
    handed_in = scores.by_student(records, roster)
    people = scores.everyone(handed_in, roster)
    times: dict[tuple[Student, str], datetime] = {}
    nobodys: list[str] = []
    for lab, path in files:
        _check(lab or "", labs)
        read = time_exports.read(path, labs, zone)
        found, others = _found(read, lab, assigned, handed_in, people)
        nobodys += others
        for student, theirs in handed_in.items():
            for stem in theirs:
                if moment := found.get((student, stem)) or found.get((student, "")):
                    times[student, stem] = moment
    made = [
        replace(record, submitted=times[student, stem].isoformat())
        if (student, stem) in times
        else record
        for student, theirs in handed_in.items()
        for stem, those in theirs.items()
        for record in those
    ]
    return made, (scores.listed(NOBODYS, nobodys),) if nobodys else ()


def _found(
    read: Times,
    lab: str | None,
    assigned: Sequence[str],
    handed_in: Collection[Student],
    people: Roster,
) -> tuple[dict[tuple[Student, str], datetime], list[str]]:
    """Return the times in one file by student and lab, and the students who handed nothing in."""
    found: dict[tuple[Student, str], datetime] = {}
    others: list[str] = []
    for time in read.times:
        student = next((s for s in map(people.find, time.names) if s and s in handed_in), None)
        stem = time.lab or lab or ("" if read.own else _only(assigned, read.table.name))
        if student is None:
            who = repr(time.names[0]) if time.names else f"line {time.line}"
            if lab is None:
                raise read.table.wrong(time.line, f"{who} has handed nothing in")
            others.append(who)
        elif lab is None and (student, stem) in found:
            raise read.table.wrong(time.line, "an earlier line already sets this time")
        else:
            known = found.get((student, stem), time.submitted)
            found[student, stem] = max(time.submitted, known)
    return found, others


def _check(lab: str, labs: Sequence[str]) -> None:
    if lab not in ("", *labs):
        raise GradingError(f"--times: {lab!r} is not a lab; there are {', '.join(labs)}")


def _only(assigned: Sequence[str], name: object) -> str:
    if len(assigned) == 1:
        return assigned[0]
    raise GradingError(f"{name} does not say which lab its times are of; write --times LAB={name}")


def _files(settings: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the paths that settings have, by lab, "" for one that is not known."""
    return {
        name.removeprefix(SETTING).strip(): json.loads(paths)
        for name, paths in settings.items()
        if name.split(" ")[0] == SETTING
    }
