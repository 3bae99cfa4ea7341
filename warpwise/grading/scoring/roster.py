"""Who is in the class: a roster as Canvas, Moodle, nbgrader or Gradescope export it, or a plain list.

The columns decide; their order does not. A student is found by whatever a submission may be named after, but only if that fits one student.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.sheet import Sheet

# What each column of the platforms' files tells. Canvas: Student, ID, SIS User ID, SIS Login ID, Section, and one column for each
# assignment. Moodle: First name, Last name (before 4.1 Surname), ID number, Email address, Groups, in a grading worksheet Identifier
# and Full name. Gradescope: First Name, Last Name, SID, Email, Role, Section. nbgrader: id, last_name, first_name, email, lms_user_id.
COLUMNS = {
    "id": "id",
    "login": "sis login id, login id, login, username, user name",
    "sis_id": "sis user id, sis id, sid, id number, student id, student number",
    "canvas_id": "canvas id, canvas user id, lms user id, identifier",
    "email": "email, email address, e-mail, e-mail address, mail",
    "name": "name, full name, student, student name",
    "first": "first, first name, given name",
    "last": "last, last name, surname, family name",
    "section": "section, sections, section name, group, groups",
    "role": "role, roles",
}
FIELDS = {heading: field for field, headings in COLUMNS.items() for heading in headings.split(", ")}
KEYS = ("login", "sis_id", "email", "canvas_id")  # without a column id, the first that every row has is the student's id
STAFF = ("instructor", "ta", "reader", "teacher", "non-editing teacher", "manager", "designer", "observer")
NOT_LISTED = "not on the roster"


@dataclass(frozen=True)
class Student:
    """One student. What a roster does not say is empty; ``canvas_id`` is the platform's own number.

    ``unlisted`` says why somebody who handed something in is not taken for one of the roster's students.
    """

    id: str
    name: str = ""
    first: str = ""
    last: str = ""
    email: str = ""
    canvas_id: str = ""
    sis_id: str = ""
    login: str = ""
    section: str = ""
    unlisted: str = ""

    @property
    def full_name(self) -> str:
        return self.name or f"{self.first} {self.last}".strip()

    @property
    def keys(self) -> frozenset[str]:
        """Everything that this student is found by, folded."""
        first, last = self.first, self.last
        names = (self.name, *((f"{first} {last}", f"{last} {first}", f"{last}, {first}") if first and last else (first or last,)))
        told = (self.id, self.login, self.sis_id, self.canvas_id, self.email, self.email.partition("@")[0], *names)
        return frozenset(filter(None, map(folded, told)))


@dataclass(frozen=True)
class Roster:
    """The students, in the file's order. ``columns`` are the headings that tell nothing about a student: a platform's assignments."""

    students: tuple[Student, ...]
    columns: tuple[str, ...] = ()

    def find(self, name: str) -> Student | None:
        """The one student with this id, login, e-mail address, its part before the @, or name; None if there is none, or two."""
        fitting = self.fitting(name)
        return fitting[0] if len(fitting) == 1 else None

    def fitting(self, name: str) -> tuple[Student, ...]:
        """Every student whom a name may mean."""
        return tuple(self._by_key.get(folded(name), ()))

    def why(self, name: str) -> str:
        """Why ``find`` finds nobody."""
        fitting = self.fitting(name)
        return f"fits {len(fitting)} students of the roster: {', '.join(s.id for s in fitting[:3])}" if fitting else NOT_LISTED

    @cached_property
    def _by_key(self) -> dict[str, list[Student]]:
        by_key: dict[str, list[Student]] = {}
        for student in self.students:
            for key in student.keys:
                by_key.setdefault(key, []).append(student)
        return by_key


def load(path: str | Path) -> Roster:
    """Read a roster. Raises GradingError, in one line, if it is empty, is no table, or does not tell its students apart."""
    table = sheet.read(path)
    canvas = [column.casefold() for column in table.columns[:2]] == ["student", "id"]
    fields = [(column, _field(column, canvas)) for column in table.columns]
    _check_columns(table, fields)
    rows = [(line, _told(cells, fields)) for line, cells in table.rows if not _no_student(cells, table.columns)]
    rows = [(line, told) for line, told in rows if told.pop("role", "").casefold() not in STAFF]
    if not rows:
        raise GradingError(f"{table.name} has no students")
    key = _key(table, [key for key in ("id", *KEYS) if any(key == field for _, field in fields)], rows)
    students = tuple(_named(Student(**told | {"id": told[key]})) for _, told in rows)
    _check_ids(table, [line for line, _ in rows], students)
    return Roster(students, tuple(column for column, field in fields if not field and column))


def folded(text: str) -> str:
    """A name as it is compared: without case, with single blanks, in one of Unicode's spellings."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _field(column: str, canvas: bool) -> str:
    heading = column.casefold().replace("_", " ")
    return "canvas_id" if canvas and heading == "id" else FIELDS.get(heading, "")


def _check_columns(table: Sheet, fields: list[tuple[str, str]]) -> None:
    for key in ("id", *KEYS):
        columns = [column for column, field in fields if field == key]
        if len(columns) > 1:
            raise table.wrong(1, f"the columns {' and '.join(map(repr, columns))} tell the same; keep one of them")
    if not any(field in ("id", *KEYS) for _, field in fields):
        raise table.wrong(1, f"no column tells students apart: id, SID, Username or Email; there are {', '.join(table.columns)[:200]}")


def _told(cells: Mapping[str, str], fields: list[tuple[str, str]]) -> dict[str, str]:
    """What a row tells of a student; of several columns for one thing, such as a section, the first."""
    told = {field: cells[column] for column, field in reversed(fields) if field}
    if "canvas_id" in told:  # Moodle's grading worksheet says "Participant 123" where its archives say 123
        told["canvas_id"] = re.sub(r"^participant\s+", "", told["canvas_id"], flags=re.I)
    return told


def _no_student(cells: Mapping[str, str], columns: tuple[str, ...]) -> bool:
    """Whether this is one of Canvas's rows without a student: the points, what is posted by hand, and its student for tries."""
    said = [cell.casefold() for cell in cells.values() if cell]
    by_hand = all(cell.startswith(("manual posting", "muted")) for cell in said)
    first = cells[columns[0]].casefold()
    return by_hand or first == "student, test" or (first == "points possible" and not any(cells[column] for column in columns[1:2]))


def _key(table: Sheet, fields: list[str], rows: list[tuple[int, dict[str, str]]]) -> str:
    """The field that tells the students apart: a column id, which no row may leave empty, or else the first that every row has."""
    for field in fields if fields[0] != "id" else ["id"]:
        if all(told[field] for _, told in rows):
            return field
    line, told = next((line, told) for line, told in rows if not told[fields[0]])
    raise table.wrong(line, f"{told.get('name') or told.get('last') or 'a student'} has no {fields[0].replace('_', ' ')}")


def _named(student: Student) -> Student:
    """Canvas writes "Last, First" in one column."""
    last, comma, first = student.name.partition(", ")
    return replace(student, first=first, last=last) if comma and not (student.first or student.last) else student


def _check_ids(table: Sheet, lines: list[int], students: tuple[Student, ...]) -> None:
    seen: dict[str, int] = {}
    for line, student in zip(lines, students, strict=True):
        earlier = seen.setdefault(folded(student.id), line)
        if earlier != line:
            raise table.wrong(line, f"{student.id!r} is in line {earlier} already")
