"""Times of submission that an instructor knows, in ``times.csv`` in the graded folder.

They win over those that a platform gave, and the grader never writes the file. A plain folder has
no other times: a file in it may be a student's own.

    student,lab,submitted
    ada,08_coalescing,2026-12-01T23:10+01:00
    ben,,2026-12-02T09:00+01:00

A row without a lab is for all labs of the student that no other row names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from warpwise.grading.record import Record
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.course import YEARS
from warpwise.grading.scoring.roster import Roster, folded
from warpwise.labs.source import Lab

NAME = "times.csv"
COLUMNS = ("student", "lab", "submitted")


def applied(
    records: Iterable[Record], path: Path, labs: Mapping[str, Lab], roster: Roster | None
) -> tuple[Record, ...]:
    """Return the records with the times in a file.

    Raises GradingError, with the line, for an unknown student or lab, or what is no time."""
    records = tuple(records)
    table = sheet.read(path)
    if sorted(table.columns) != sorted(COLUMNS):
        raise table.wrong(1, f"the columns should be {', '.join(COLUMNS)}")
    times: dict[tuple[str, str], str] = {}
    people = {_id(record.student, roster) for record in records}
    for line, cells in table.rows:
        student, lab = _id(cells["student"], roster), cells["lab"]
        if student not in people:
            raise table.wrong(line, f"{cells['student']!r} has handed nothing in")
        if lab not in ("", *labs):
            raise table.wrong(line, f"{lab!r} is not a lab; there are {', '.join(labs)}")
        if (student, lab) in times:
            raise table.wrong(line, "an earlier line already sets this time")
        if not _is_time(cells["submitted"]):
            what = f"{cells['submitted']!r} is not a time with its offset from UTC"
            raise table.wrong(line, f"{what}, such as 2026-12-01T23:59+01:00")
        times[student, lab] = cells["submitted"]

    def submitted(record: Record) -> str:
        student = _id(record.student, roster)
        return times.get((student, record.lab)) or times.get((student, "")) or record.submitted

    return tuple(replace(record, submitted=submitted(record)) for record in records)


def _id(name: str, roster: Roster | None) -> str:
    found = roster.find(name) if roster else None
    return folded(found.id if found else name)


def _is_time(text: str) -> bool:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return moment.tzinfo is not None and moment.year in YEARS
