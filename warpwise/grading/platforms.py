"""Read the names and files of the platforms that collect submissions: students, times, lateness.

Each function parses one text, and returns None for a text of another shape. Nothing is opened here,
and no time is guessed: what a platform does not say stays unknown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import yaml

from warpwise.errors import GradingError

PLAIN, CANVAS, MOODLE, GRADESCOPE, NBGRADER = "plain", "canvas", "moodle", "gradescope", "nbgrader"

# a user has a name, so that in ``4711_4712_90210_x.ipynb`` the student is 4712, who is called 4711
CANVAS_NAME = re.compile(
    r"(?:(?P<late_anon>LATE_|late_)?(?P<anon>anon_[^\W_]+)"
    r"|(?P<name>\w*?)_(?:(?P<late>LATE|late)_)?(?P<student>\d+))"
    r"_(?:(?P<file>\d+)_(?P<original>.+)|(?P<page>(?:text|link)\.html))",
    re.S,
)
GRADESCOPE_NAME = re.compile(r"submission_\d+", re.A)
RESUBMITTED = re.compile(r"(?P<stem>.+)-(?P<number>[1-9]\d{0,5})(?P<suffix>(?:\.tar)?\.\w+)", re.S)
MOODLE_NAME = re.compile(
    r"(?P<name>[^_]*)(?:_(?P<id>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<original>.*))?",
    re.S,
)
TIMESTAMP = re.compile(
    r"(20\d\d-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?"
    r"\s*(Z|[+-]\d\d:?\d\d|[A-Za-z][\w/+-]*)?",
    re.A,
)
MOST_NESTED = 40
SYMBOL = ":"  # Gradescope writes its keys as Ruby symbols
NOT_GRADESCOPES = "submission_metadata.yml is not what Gradescope writes"


@dataclass(frozen=True)
class Named:
    """A platform's name for a file or a folder, parsed.

    ``attempt`` counts resubmissions from 0; ``file`` tells uploads apart."""

    student: str
    name: str
    original: str
    late: bool = False
    attempt: int = 0
    file: str = ""


@dataclass(frozen=True)
class Handed:
    """A submission in Gradescope's metadata: a folder, and each (student, name) behind it."""

    folder: str
    submitters: tuple[tuple[str, str], ...]
    submitted: datetime | None


def canvas(name: str) -> Named | None:
    """Parse a file name of Canvas's "Download Submissions".

    An example is ``lovelaceada_LATE_4711_90210_08_coalescing-1.ipynb``. Before the first number
    stands the student's name in sorting order, lower case, letters and digits only; the numbers are
    the user's id, which is the student here, and the upload's. Where students are anonymous it is
    ``anon_`` and a code instead. Canvas numbers a file name that the student has used before with
    ``-1``, ``-2``, and writes what is no upload as ``..._4711_text.html``. Source:
    ``lib/content_zipper.rb`` (``get_filename``, ``add_upload_submission``) and
    ``Attachment.make_unique_filename`` in instructure/canvas-lms."""
    found = CANVAS_NAME.fullmatch(name)
    if found is None:
        return None
    original, attempt = found["original"] or found["page"], 0
    if again := RESUBMITTED.fullmatch(original):
        original, attempt = again["stem"] + again["suffix"], int(again["number"])
    late = bool(found["late"] or found["late_anon"])
    student = found["anon"] or found["student"]
    return Named(student, found["name"] or "", original, late, attempt, found["file"] or "")


def moodle(name: str) -> Named | None:
    """Parse a folder or a file name of Moodle's "Download all submissions".

    An example is ``Ada Lovelace_1234_assignsubmission_file_``. With "Download submissions in
    folders" the name ends there, in newer versions without the last ``_``; otherwise the file's own
    name follows. The number, kept in ``file``, is the participant's in this one assignment, so the
    student is known by the name. Source:
    ``mod/assign/classes/downloader.php`` (``get_student_prefix``,
    ``load_submissionplugin_filelist``) in moodle/moodle."""
    found = MOODLE_NAME.fullmatch(name)
    if found is None or not (found["name"] or found["id"]):
        return None
    student = found["name"] or found["id"]
    return Named(student, student, found["original"] or "", file=found["id"] or "")


def gradescope(text: str) -> tuple[Handed, ...]:
    """Parse the submissions in an export's ``submission_metadata.yml``. Raises GradingError.

    The file maps each folder to ``:submitters`` (a list of ``:name``, ``:sid``, ``:email``),
    ``:created_at`` and more. A student is told by the ``:sid``, without one by the ``:email``, then
    by the name. All is read as text: no tag in the file makes an object. Source: the keys that
    otter-grader's ``GradescopeParser`` reads; Gradescope documents the download, and not the file.

    Students may write the ``:sid`` themselves: several people under one are told by the ``:email``.
    """
    try:
        if _is_deep(text):
            raise ValueError(f"nested more than {MOST_NESTED} deep")
        found = yaml.load(text, Loader=yaml.CBaseLoader)
    except (yaml.YAMLError, ValueError) as error:
        why = " ".join(str(error).split())[:120]
        raise GradingError(f"{NOT_GRADESCOPES} ({why})") from error
    if not isinstance(found, dict) or not all(isinstance(about, dict) for about in found.values()):
        raise GradingError(f"{NOT_GRADESCOPES}: it should map folders to submissions")
    people = {str(folder): list(_submitters(about)) for folder, about in found.items()}
    known = set(chain.from_iterable(people.values()))
    shared = Counter(student for student, _ in {(p.student, p.email) for p in known})

    def student(p: _Person) -> str:
        return (shared[p.student] > 1 and p.email) or p.student

    submitters = {f: tuple((student(p), p.name) for p in those) for f, those in people.items()}
    return tuple(Handed(str(f), submitters[str(f)], _created(said)) for f, said in found.items())


def moment(text: str) -> datetime | None:
    """Parse a time of nbgrader's ``timestamp.txt`` or Gradescope's metadata; None if it is none.

    The time is aware; None is also for an unknown zone.

    nbgrader writes ``2026-02-03 14:15:16.171819 UTC`` and reads a time without a zone as UTC
    (``Exchange.timestamp_format`` in ``nbgrader/exchange/abc/exchange.py``, ``parse_utc`` in
    ``nbgrader/utils.py``)."""
    found = TIMESTAMP.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    with suppress(ValueError, KeyError, OSError, OverflowError):
        microseconds = int((fraction or "0").ljust(6, "0")[:6])
        naive = datetime.fromisoformat(f"{day}T{clock}") + timedelta(microseconds=microseconds)
        return naive.replace(tzinfo=_zone(zone or "UTC"))
    return None


def _zone(name: str) -> timezone | ZoneInfo:
    """Find a time zone by its offset or name.

    Raises ValueError or KeyError (ZoneInfoNotFoundError is one) if there is none."""
    if name in ("Z", "UTC", "GMT"):
        return UTC
    if name[0] in "+-":
        hours, minutes = int(name[1:3]), int(name[-2:])
        return timezone((-1 if name[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes))
    return ZoneInfo(name)


class _Person(NamedTuple):
    student: str
    name: str
    email: str


def _submitters(about: dict[str, Any]) -> Iterator[_Person]:
    people = about.get(f"{SYMBOL}submitters")
    for person in people if isinstance(people, list) else ():
        if isinstance(person, dict):
            said = {key: value.strip() for key, value in person.items() if isinstance(value, str)}
            name = said.get(":name", "")
            email = said.get(":email", "")
            student = said.get(":sid") or email or name
            if student:
                yield _Person(student, name, email)


def _created(about: dict[str, Any]) -> datetime | None:
    """Read ``:created_at``: a plain time, or in older exports Rails's form of it, with ``utc``."""
    said = about.get(f"{SYMBOL}created_at")
    said = said.get("utc") if isinstance(said, dict) else said
    return moment(said) if isinstance(said, str) else None


def _is_deep(text: str) -> bool:
    """True if a text is nested deeper than MOST_NESTED, which the fast reader may not survive."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CBaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_NESTED:
            return True
    return False
