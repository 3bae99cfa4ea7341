"""The file that Canvas imports (Grades, Import), made from the one that it exports.

With Canvas's own export as the roster, each row comes back as it was: Canvas finds a student by the
column ``ID``, and an assignment by the number in brackets that ends its heading. Only the columns
that Canvas needs are written, with the assignments that were graded: Canvas leaves alone what a
file does not have, and takes an empty cell for a score to delete. So a cell without a score here
keeps what it was. Cells are defused as everywhere, which changes neither of these two numbers.

The export's shape and the import's rules are those of ``lib/gradebook_exporter.rb`` (``csv_data``)
and ``lib/gradebook_importer.rb`` (``update_column_count``, ``check_for_non_student_row``,
``process_student``) and of ``Assignment.title_and_id`` in instructure/canvas-lms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from warpwise.errors import GradingError
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.filled import (
    Filled,
    LeftOut,
    by_student,
    labs_of,
    number,
    placed,
    points_of,
    unplaced,
    without,
)
from warpwise.grading.scoring.roster import Roster, Student, folded, is_canvas
from warpwise.grading.scoring.scores import Score
from warpwise.grading.scoring.sheet import Sheet
from warpwise.labs.source import Lab

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
OF_STUDENTS = {
    *map(folded, CANVAS),
    *("lastname", "firstname", "integration id", "root account"),
}
ASSIGNMENT = re.compile(r"(?P<title>.*)\s\((?P<id>\d+)\)", re.S)
# Canvas takes a row whose first cell has these words for points, not for a student.
POINTS = r"(points) (possible)"
POINTS_ROW = "    Points Possible"
KEPT = {
    "EX": "excused in Canvas, and left so",
    "N/A": "not assigned to this student in Canvas",
}
NO_EXPORT = (
    "the roster is not a file from Canvas (Grades, Export), so Canvas will match students by login "
    "or name, and ask which assignment each column is"
)


def filled(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Filled:
    """Return Canvas's own rows with the scores, or, without such a roster, rows of its shape.

    Raises GradingError if a lab fits no assignment of the roster, or several."""
    if roster is None or roster.sheet is None or not is_canvas(roster.sheet.columns):
        return _made(scores, labs)
    there = placed(scores)
    columns = _columns(roster.sheet, labs_of(there), labs, course)
    nowhere = tuple(_left_out(there, roster.sheet, columns))
    rows = tuple(_rows(without(there, nowhere), roster, roster.sheet, columns))
    remarks = tuple(_remarks(scores, roster.sheet, columns))
    return Filled(rows, (*unplaced(scores), *nowhere), remarks)


def column_of(lab: Lab, wanted: str, columns: Sequence[str]) -> str:
    """Return the heading of a lab's assignment among those of an export.

    ``wanted`` is what course.toml says: the heading, the title or the number in brackets. Without
    it, it is the assignment that has the lab's title or stem for a name, or else the one with the
    words "lab" and its number in the name. Raises GradingError, with the assignments that there
    are, for none or several."""
    titles = {column: found for column in columns if (found := ASSIGNMENT.fullmatch(column))}
    if wanted:
        names = {folded(wanted)}
        fits = [c for c, found in titles.items() if names & {folded(c), *_names(found)}]
    else:
        names = {folded(lab.title), folded(lab.stem)}
        fits = [c for c, found in titles.items() if folded(found["title"]) in names]
        if not fits and (digits := re.match(r"\d+", lab.stem)):
            numbered = re.compile(rf"\blab\W*0*{int(digits[0])}(?!\d)", re.I)
            fits = [c for c, found in titles.items() if numbered.search(found["title"])]
    if len(fits) == 1:
        return fits[0]
    what = f"canvas = {wanted!r} for {lab.stem}" if wanted else lab.stem
    there_are = f"; its assignments are {_listed(titles)}" if titles else ", and no assignments"
    if fits:
        problem = f"{what} fits {len(fits)} assignments of the roster: {_listed(fits)}"
    else:
        problem = f"{what} fits no assignment of the roster{there_are}"
    example = next(iter(fits or titles), f"{lab.title} (12345)")
    raise GradingError(
        f"{problem}; name one in course.toml, as in [labs.{lab.stem}] canvas = {_quoted(example)}, "
        "or choose labs with --lab"
    )


def _columns(
    table: Sheet, graded: Sequence[str], labs: Mapping[str, Lab], course: Course
) -> dict[str, str]:
    """Return the heading of each graded lab's assignment."""
    found = {stem: column_of(labs[stem], course.lab(stem).canvas, table.columns) for stem in graded}
    for column, count in Counter(found.values()).items():
        if count > 1:
            both = " and ".join(stem for stem in found if found[stem] == column)
            raise GradingError(f"{both} fit the same assignment of the roster, {column!r}")
    return found


def _rows(
    scores: Sequence[Score], roster: Roster, table: Sheet, columns: Mapping[str, str]
) -> Iterator[list[str]]:
    kept = [column for column in table.columns if folded(column) in OF_STUDENTS]
    yield [*kept, *columns.values()]
    theirs = by_student(scores)
    by_id = {student.canvas_id: theirs.get(student, {}) for student in roster.students}
    for _, cells in table.rows:
        own = by_id.get(cells[_id_column(table)], {})
        name, *about = (cells[column] for column in kept)
        points = folded(name) == "points possible" and not any(about)
        name = POINTS_ROW if points else _no_points(name)
        row = [
            number(own[stem].score) if stem in own and not _kept(cells[column]) else cells[column]
            for stem, column in columns.items()
        ]
        if any([name, *about, *row]):
            yield [name, *about, *row]


def _left_out(
    scores: Sequence[Score], table: Sheet, columns: Mapping[str, str]
) -> Iterator[LeftOut]:
    """Yield what Canvas has no row for, or does not expect of a student."""
    cells = {cells[_id_column(table)]: cells for _, cells in table.rows}
    for score in scores:
        if not score.student.canvas_id.isdecimal():
            yield LeftOut(score, "has no ID of Canvas in the roster")
            continue
        why = _kept(cells[score.student.canvas_id][columns[score.lab]])
        if why and (score.file or score.overridden):
            yield LeftOut(score, why)


def _kept(cell: str) -> str:
    """Explain why a cell stays what it is in Canvas; "" if a score can replace it."""
    return KEPT.get(cell.upper(), "")


def _remarks(scores: Sequence[Score], table: Sheet, columns: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each assignment whose points in Canvas are others than here."""
    points = next(
        (cells for _, cells in table.rows if folded(cells[table.columns[0]]) == "points possible"),
        None,
    )
    ours = {score.lab: score.possible for score in scores if score.lab}
    for stem, column in columns.items():
        said = points_of(points[column]) if points else None
        if said is not None and said != ours[stem]:
            yield (
                f"{column!r} has {number(said)} points in Canvas and {number(ours[stem])} here, and"
                f" Canvas takes points as they are: change it there, or set points ="
                f" {number(said)} for {stem} in course.toml"
            )


def _made(scores: Sequence[Score], labs: Mapping[str, Lab]) -> Filled:
    """Return rows of Canvas's shape, of a roster that is not Canvas's or none."""
    there = placed(scores)
    graded = labs_of(there)
    rows = [[*CANVAS, *(labs[stem].title for stem in graded)]]
    possible = {score.lab: score.possible for score in scores}
    rows.append([POINTS_ROW, "", "", "", "", *(number(possible[stem]) for stem in graded)])
    for student, theirs in by_student(there).items():
        points = [number(theirs[stem].score) if stem in theirs else "" for stem in graded]
        rows.append([*_about(student), *points])
    return Filled(tuple(rows), tuple(unplaced(scores)), (NO_EXPORT,))


def _about(student: Student) -> list[str]:
    name = student.full_name or student.id
    if student.last and student.first:
        name = f"{student.last}, {student.first}"
    login = student.login or ("" if student.canvas_id else student.id)
    return [_no_points(name), student.canvas_id, student.sis_id, login, student.section]


def _id_column(table: Sheet) -> str:
    return next(column for column in table.columns if folded(column) == "id")


def _no_points(name: str) -> str:
    return re.sub(POINTS, r"\1-\2", name, flags=re.I)


def _names(found: re.Match[str]) -> set[str]:
    return {folded(found["title"]), found["id"]}


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(map(repr, columns))


def _quoted(text: str) -> str:
    """Write a text as TOML does."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
