"""The class list: a roster exported by Canvas, Moodle, nbgrader or Gradescope, or a plain list.

Columns are recognised by their headings, in any order. A student is found by whatever a submission
may be named after, but only if it matches one student."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.sheet import Sheet
from warpwise.simt.compiler.spelling import nearest

# Field -> headings. Canvas: Student, ID, SIS User ID, SIS Login ID, Section, and one column for
# each assignment. Moodle: First name, Last name (before 4.1 Surname), ID number, Email address,
# Groups, in a grading worksheet Identifier and Full name. Gradescope: First Name, Last Name, SID,
# Email, Role, Section. nbgrader: id, last_name, first_name, email, lms_user_id. Canvas can be set
# to write LastName, FirstName in place of Student.
COLUMNS = {
    "id": "id",
    "login": "sis login id, login id, login, username, user name",
    "sis_id": "sis user id, sis id, sid, id number, student id, student number",
    "canvas_id": "canvas id, canvas user id, lms user id, identifier",
    "email": "email, email address, e-mail, e-mail address, mail",
    "name": "name, full name, student, student name",
    "first": "first, first name, firstname, given name",
    "last": "last, last name, lastname, surname, family name",
    "section": "section, sections, section name, group, groups",
    "role": "role, roles",
}
FIELDS = {heading: field for field, headings in COLUMNS.items() for heading in headings.split(", ")}
# without a column id, the first of these that every row has is the student's id
KEYS = ("login", "sis_id", "email", "canvas_id")
STAFF = "instructor, ta, reader, teacher, non-editing teacher, manager, designer, observer".split(
    ", "
)
NOT_LISTED = "not on the roster"
MOST_MEANT = 4  # students that a part of a name may mean


@dataclass(frozen=True)
class Student:
    """One student. Fields that a roster lacks are empty; ``canvas_id`` is the platform's number.

    ``unlisted`` says why somebody who handed something in is not one of the roster's students."""

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
        names = [self.name, first or last]
        if first and last:
            names = [self.name, f"{first} {last}", f"{last} {first}", f"{last}, {first}"]
        ids = (self.id, self.login, self.sis_id, self.canvas_id)
        if self.canvas_id and self.full_name:  # as a namesake is known in Moodle's download
            names.append(f"{self.full_name} {self.canvas_id}")
        values = (*ids, self.email, self.email.partition("@")[0], *names)
        return frozenset(filter(None, map(folded, values)))

    def has(self, part: str) -> bool:
        """True if each word of a text begins a word of this student's names and addresses."""
        names = " ".join((self.id, self.login, self.email, self.full_name, self.last, self.first))
        asked = _words(part)
        return bool(asked) and all(any(w.startswith(p) for w in _words(names)) for p in asked)


@dataclass(frozen=True)
class Roster:
    """The students, in the file's order, the headings of all other columns, and the file itself."""

    students: tuple[Student, ...]
    columns: tuple[str, ...] = ()
    sheet: Sheet | None = None

    def find(self, name: str) -> Student | None:
        """Return the one student with this id, login, e-mail address, part before the @, or name.

        None if there are none or several."""
        fitting = self.fitting(name)
        return fitting[0] if len(fitting) == 1 else None

    def fitting(self, name: str) -> tuple[Student, ...]:
        """Return every student whom a name may mean."""
        return tuple(self._by_key.get(folded(name), ()))

    def meant(self, name: str) -> str:
        """Return "; did you mean ...?" for a name by which nobody is found; "" if nobody is near.

        Part of a name, such as a first name, may mean a few; else it is taken for a slip."""
        fitting = [student for student in self.students if student.has(name)]
        if len(fitting) > MOST_MEANT:
            return ""
        if fitting:
            return f"; did you mean {' or '.join(map(_told, fitting))}?"
        known = (n for s in self.students for n in (s.id, s.email, s.login, s.full_name) if n)
        near = nearest(name, known)
        return f"; did you mean {near}?" if near else ""

    def why(self, name: str) -> str:
        """Explain why ``find`` finds nobody."""
        fitting = self.fitting(name)
        if not fitting:
            return NOT_LISTED
        ids = ", ".join(s.id for s in fitting[:3])
        return f"matches {len(fitting)} students on the roster: {ids}"

    def nobody(self, name: str) -> str:
        """Say that a name is no student's, or that of several, and who may be meant."""
        if self.fitting(name):
            return f"{name!r} {self.why(name)}"
        return f"{name!r} is not a student{self.meant(name)}"

    @cached_property
    def _by_key(self) -> dict[str, list[Student]]:
        by_key: dict[str, list[Student]] = {}
        for student in self.students:
            for key in student.keys:
                by_key.setdefault(key, []).append(student)
        return by_key


def load(path: str | Path) -> Roster:
    """Read a roster.

    Raises GradingError, in one line, if it is empty, is not a table, or does not tell its students
    apart."""
    table = sheet.read(path)
    canvas = is_canvas(table.columns)
    fields = [(column, _field(column, canvas)) for column in table.columns]
    _check_columns(table, fields)
    rows = [
        (line, _values(cells, fields))
        for line, cells in table.rows
        if not _no_student(cells, table.columns)
    ]
    rows = [
        (line, values) for line, values in rows if values.pop("role", "").casefold() not in STAFF
    ]
    if canvas:  # a student of several sections can have a row in each
        numbers = [values["canvas_id"] for _, values in rows]
        rows = [
            row for at, row in enumerate(rows) if not numbers[at] or numbers[at] not in numbers[:at]
        ]
    if not rows:
        raise GradingError(f"{table.name} has no students")
    there = {field for _, field in fields}
    key = _key(table, [key for key in ("id", *KEYS) if key in there], rows)
    students = tuple(_named(Student(**values | {"id": values[key]})) for _, values in rows)
    _check_ids(table, [line for line, _ in rows], students)
    others = tuple(column for column, field in fields if not field and column)
    return Roster(students, others, table)


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,.@_-]+", folded(text)) if word]


def _told(student: Student) -> str:
    name = student.full_name
    return f"{student.id} ({name})" if name and name != student.id else student.id


def is_canvas(columns: Sequence[str]) -> bool:
    """True for the columns of a gradebook that Canvas exported."""
    first = [column.casefold() for column in columns[:3]]
    return first[:2] == ["student", "id"] or first == ["lastname", "firstname", "id"]


def is_worksheet(columns: Sequence[str]) -> bool:
    """True for the columns of a grading worksheet of Moodle."""
    return {"identifier", "grade"} <= {column.casefold() for column in columns}


def participant(identifier: str) -> str:
    """Return the number that Moodle's archives give to "Participant 123" of its worksheets."""
    return re.sub(r"^participant\s+", "", identifier, flags=re.I)


def folded(text: str) -> str:
    """Return a name for comparison: without case, with single blanks, in Unicode's NFKC form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _field(column: str, canvas: bool) -> str:
    heading = column.casefold().replace("_", " ")
    return "canvas_id" if canvas and heading == "id" else FIELDS.get(heading, "")


def _check_columns(table: Sheet, fields: list[tuple[str, str]]) -> None:
    for key in ("id", *KEYS):
        columns = [column for column, field in fields if field == key]
        if len(columns) > 1:
            both = " and ".join(map(repr, columns))
            raise table.wrong(1, f"the columns {both} mean the same; keep one of them")
    if not any(field in ("id", *KEYS) for _, field in fields):
        there_are = ", ".join(table.columns)[:200]
        raise table.wrong(
            1, f"no column identifies students: id, SID, Username or Email; there are {there_are}"
        )


def _values(cells: Mapping[str, str], fields: list[tuple[str, str]]) -> dict[str, str]:
    """Return a row's fields; of several columns for one, such as a section, the first counts."""
    values = {field: cells[column] for column, field in reversed(fields) if field}
    if number := values.get("canvas_id"):
        values["canvas_id"] = participant(number)
        if number != values["canvas_id"] and "name" not in values:  # marked blindly
            values["name"] = number
    return values


def _no_student(cells: Mapping[str, str], columns: tuple[str, ...]) -> bool:
    """Recognise Canvas's rows without a student: points, manual posting, and its test student."""
    said = [cell.casefold() for cell in cells.values() if cell]
    if all(cell.startswith(("manual posting", "muted")) for cell in said):
        return True
    first = cells[columns[0]].casefold()
    points = first == "points possible" and not any(cells[column] for column in columns[1:2])
    second = cells[columns[1]].casefold() if len(columns) > 1 else ""
    return points or first == "student, test" or (first, second) == ("student", "test")


def _key(table: Sheet, fields: list[str], rows: list[tuple[int, dict[str, str]]]) -> str:
    """Return the field that identifies students.

    It is ``id`` if there is one, which no row may leave empty, or else the first that all rows
    have."""
    for field in fields if fields[0] != "id" else ["id"]:
        if all(values[field] for _, values in rows):
            return field
    line, values = next((line, values) for line, values in rows if not values[fields[0]])
    name = values.get("name") or values.get("last") or "a student"
    raise table.wrong(line, f"{name} has no {fields[0].replace('_', ' ')}")


def _named(student: Student) -> Student:
    """Split a name as Canvas writes it: "Last, First" in one column."""
    last, comma, first = student.name.partition(", ")
    if not comma or student.first or student.last:
        return student
    return replace(student, first=first, last=last)


def _check_ids(table: Sheet, lines: list[int], students: tuple[Student, ...]) -> None:
    seen: dict[str, int] = {}
    for line, student in zip(lines, students, strict=True):
        earlier = seen.setdefault(folded(student.id), line)
        if earlier != line:
            raise table.wrong(line, f"{student.id!r} is already on line {earlier}")
