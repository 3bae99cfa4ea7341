"""Delete a student from a graded folder: their records, pages, and rows in every table.

Records go last. They say who the student is, so a deletion that was broken off is finished by the
same command. The report on the class is deleted whole, since it can be made again from the records
that stay. Nothing outside the folder is touched."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import store, unfinished
from warpwise.grading.scoring import folder, sheet
from warpwise.grading.scoring.roster import FIELDS, Roster, Student
from warpwise.labs.whole import whole

OF_THE_CLASS = ("report.html", "similar.csv")
UNFINISHED = re.compile(r"\..+-\w{8}")  # what ``labs.whole`` leaves when it is killed
UNREAD = (".zip", ".gz", ".tar", ".tgz", ".pdf", ".xlsx")
LEAST_CHARACTERS = 3  # of a name that is looked for in every file


@dataclass(frozen=True)
class Table:
    """A table, or a list in JSON, without the student's rows: their number, and what stays."""

    path: Path
    rows: int
    text: str


@dataclass(frozen=True)
class Found:
    """Everything that a graded folder holds of one student.

    ``handed_in`` are the names of their files among the submissions; ``outside`` are paths that the
    run was given, which may name the student too."""

    folder: Path
    student: Student
    tables: tuple[Table, ...]
    files: tuple[Path, ...]  #: pages and whatever else is deleted before the records
    records: tuple[Path, ...]
    handed_in: tuple[str, ...]
    outside: tuple[Path, ...]


def find(graded: str | Path, name: str) -> Found:
    """Find what a folder holds of a student, given any name that the roster knows.

    Raises GradingError if nobody or several have this name, or if a table cannot be read."""
    run = store.load(graded)
    everyone, handed_in = folder.people(run)
    student = folder.person(run.folder, name, everyone, handed_in)
    theirs = [record for records in handed_in.get(student, {}).values() for record in records]
    names = {student.id, *(record.student for record in theirs)}
    theirs += (record for record in unfinished.replaced(run) if record.student in names)
    tables = [
        _without(path, student, names, everyone) for path in sorted(run.folder.rglob("*.csv"))
    ]
    tables += [_list_without(path, names) for path in sorted(run.folder.glob("*.json"))]
    said = (*run.about.get("sources", {}).values(), run.about.get("settings", {}).get("roster"))
    records = tuple(store.path(run.folder, record.file, record.lab) for record in theirs)
    return Found(
        run.folder,
        student,
        tuple(t for t in tables if t.rows and t.path.name not in OF_THE_CLASS),
        tuple(sorted(_files(run.folder, names, records))),
        records,
        tuple(sorted({record.file for record in theirs})),
        tuple(Path(path) for path in dict.fromkeys(said) if path),
    )


def forget(found: Found) -> Iterator[Path]:
    """Delete what was found; yield each path when it is done. Raises GradingError."""
    try:
        for table in found.tables:
            private = not table.path.stat().st_mode & 0o077
            whole(table.path, table.text, private)
            yield table.path
        for path in (*found.files, *found.records):
            path.unlink(missing_ok=True)
            yield path
    except OSError as error:
        why = f"{error.filename} cannot be changed ({error.strerror})"
        raise GradingError(f"{why}; the same command goes on from here") from error


def still_named(found: Found) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return the files of the folder that still have the student's id, name or e-mail address.

    They may be about a namesake. Second come the files that cannot be searched."""
    s = found.student
    said = {s.id, s.login, s.sis_id, s.email, s.full_name, f"{s.last}, {s.first}"}
    said = {text for text in said if len(text.strip(", ")) >= LEAST_CHARACTERS}
    paths = [path for path in sorted(found.folder.rglob("*")) if path.is_file()]
    unread = tuple(path for path in paths if path.suffix.lower() in UNREAD)
    if not said:
        return (), unread
    words = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, sorted(said)))})(?!\w)", re.IGNORECASE)
    read = (path for path in paths if path not in unread)
    naming = (path for path in read if words.search(path.read_text("utf-8", errors="replace")))
    return tuple(naming), unread


def _files(graded: Path, names: Collection[str], records: Collection[Path]) -> Iterator[Path]:
    """Yield pages, what lies beside the records under their names, and the report on the class.

    So too what a kill left of any file that was written."""
    for name in names:
        yield from (graded / "feedback").glob(f"{store.file_name(name)}.*")
    for record in records:
        yield from (path for path in graded.rglob(record.name) if path != record)
    yield from (graded / name for name in OF_THE_CLASS if (graded / name).is_file())
    yield from (path for path in graded.rglob(".*") if UNFINISHED.fullmatch(path.name))


def _without(path: Path, student: Student, names: Collection[str], everyone: Roster) -> Table:
    """Return a table without the student's rows; the others stay as they are written."""
    table = sheet.read(path)
    telling = [heading for heading in table.columns if _identifies(heading)]

    def is_theirs(cells: Mapping[str, str]) -> bool:
        said = [cells[heading] for heading in telling if cells[heading]]
        return any(name in names or everyone.find(name) == student for name in said)

    lines = list(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))
    gone, end = 0, len(lines)
    for line, cells in reversed(table.rows):
        if is_theirs(cells):
            del lines[line - 1 : end]
            gone += 1
        end = line - 1
    return Table(path, gone, "".join(lines))


def _list_without(path: Path, names: Collection[str]) -> Table:
    """Return a JSON file without the entries of lists that have one of these names.

    Raises GradingError."""
    gone = 0

    def is_theirs(entry: object) -> bool:
        inner: Collection[object] = ()
        if isinstance(entry, dict | list):
            inner = entry.values() if isinstance(entry, dict) else entry
        return any(isinstance(value, str) and value in names for value in inner)

    def without(value: object) -> object:
        nonlocal gone
        if isinstance(value, dict):
            return {key: without(inner) for key, inner in value.items()}
        if isinstance(value, list):
            kept = [inner for inner in value if not is_theirs(inner)]
            gone += len(value) - len(kept)
            return [without(inner) for inner in kept]
        return value

    try:
        found = without(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise GradingError(f"{path} is damaged ({error})") from error
    return Table(path, gone, json.dumps(found, indent=2) + "\n")


def _identifies(heading: str) -> bool:
    return FIELDS.get(heading.casefold().replace("_", " ")) not in (None, "section", "role")
