"""The files that Moodle imports: an assignment's grading worksheet, or grades for the gradebook.

With a grading worksheet as the roster, the worksheet comes back as it was, with points in ``Grade``
and a line in ``Feedback comments``. Moodle finds a participant by ``Identifier``, wants the columns
``Grade`` and ``Last modified (grade)`` too, and passes over empty grades and those above the
maximum (``mod/assign/feedback/offline/importgradeslib.php`` and ``locallib.php``,
``process_import_grades``, in moodle/moodle).

Any other roster gives a table for Grades, Import, CSV file. There one student whom Moodle does not
know, or who is not told by the column that is mapped, ends the whole import, and an empty cell
deletes a grade (``grade/import/csv/classes/load_data.php``; https://docs.moodle.org/en/Grade_import)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

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
from warpwise.grading.scoring.roster import Roster, Student, folded, is_worksheet, participant
from warpwise.grading.scoring.scores import NO_SUBMISSION, Score
from warpwise.grading.scoring.sheet import Sheet, defused
from warpwise.labs.source import Lab

# What Moodle can tell a user by, best first: a field of a student, and its heading in Moodle.
KEYS = {"email": "Email address", "sis_id": "ID number", "login": "Username"}
NAMES = {"first": "First name", "last": "Last name"}
GRADE, CHANGED, COMMENTS = "grade", "last modified (grade)", "feedback comments"
MAXIMUM, CAN_CHANGE = "maximum grade", "grade can be changed"
LOCKED = "the worksheet says that this grade cannot be changed"
NO_TIME = ("-",)  # Moodle's word for a time that there is not
MOST = 100  # a grade that the import takes, unless the site allows more


def filled(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Filled:
    """Return the worksheet with the grades, or a table for the gradebook's import.

    Raises GradingError without a roster, and for a worksheet if there are grades of several
    labs."""
    if roster is None:
        raise GradingError(
            "Moodle needs a roster: give --roster the participants' list, or better the grading "
            "worksheet of the assignment"
        )
    if roster.sheet and is_worksheet(roster.sheet.columns):
        return _worksheet(scores, roster, roster.sheet)
    return _import(scores, labs, roster)


def _worksheet(scores: Sequence[Score], roster: Roster, table: Sheet) -> Filled:
    there = placed(scores)
    graded = labs_of(there)
    if len(graded) > 1:
        raise GradingError(
            f"{table.name} is the grading worksheet of one assignment, and there are grades of "
            f"{', '.join(graded)}: choose one with --lab"
        )
    column = {folded(name): name for name in table.columns}
    if CHANGED not in column:
        raise GradingError(
            f"{table.name} has no column 'Last modified (grade)', without which Moodle refuses it; "
            "download the grading worksheet again"
        )
    locked = _locked(table, column)
    by_number = {score.student.canvas_id: score for score in there}
    passed_over = (s for who, s in by_number.items() if who in locked and s.file)
    left_out = (*unplaced(scores), *(LeftOut(score, LOCKED) for score in passed_over))
    rows = [list(table.columns)]
    for _, cells in table.rows:
        who = participant(cells[column["identifier"]])
        score = None if who in locked else by_number.get(who)
        rows.append(list((_graded(cells, column, score) if score else cells).values()))
    return Filled(tuple(rows), left_out, tuple(_remarks(there, table, column)), NO_TIME)


def _graded(cells: Mapping[str, str], column: Mapping[str, str], score: Score) -> dict[str, str]:
    """Return a row of the worksheet with a grade; a comment that is there stays."""
    new = {column[GRADE]: number(score.score)}
    comments = column.get(COMMENTS)
    if comments and not cells[comments]:
        new[comments] = _comment(score)
    return {**cells, **new}


def _comment(score: Score) -> str:
    if not score.file and not score.overridden:
        return NO_SUBMISSION
    points = f"{number(score.score)} of {number(score.possible)} points"
    noted = score.overridden or score.penalty or score.late_days
    return f"{points} ({score.note})" if noted else points


def _locked(table: Sheet, column: Mapping[str, str]) -> set[str]:
    """Return the participants whose grade Moodle would pass over."""
    return {
        participant(cells[column["identifier"]])
        for _, cells in table.rows
        if CAN_CHANGE in column and folded(cells[column[CAN_CHANGE]]) == "no"
    }


def _remarks(scores: Sequence[Score], table: Sheet, column: Mapping[str, str]) -> Iterator[str]:
    """Yield a line if the points are out of another maximum than Moodle's."""
    if MAXIMUM not in column:
        return
    maxima = {points_of(cells[column[MAXIMUM]]) for _, cells in table.rows} - {None}
    for stem, ours in {score.lab: score.possible for score in scores}.items():
        for said in maxima - {ours}:
            assert said is not None
            yield (
                f"{stem} has {number(said)} points in Moodle and {number(ours)} here, and Moodle "
                f"passes over a grade above its maximum: change it there, or set points = "
                f"{number(said)} for {stem} in course.toml"
            )


def _import(scores: Sequence[Score], labs: Mapping[str, Lab], roster: Roster) -> Filled:
    """Return a table that tells students by one column, with a column for each lab."""
    there = placed(scores)
    graded = labs_of(there)
    fields = [f for f in KEYS if any(getattr(s, f) for s in roster.students)]
    if not fields:
        raise GradingError(
            "the roster has none of the columns by which Moodle tells students: "
            + ", ".join(KEYS.values())
        )
    key = max(fields, key=lambda field: sum(not why for why in _untold(roster, field).values()))
    untold = _untold(roster, key)
    nobody = [LeftOut(s, untold[s.student]) for s in there if untold[s.student]]
    about = {key: KEYS[key]} | {
        f: heading for f, heading in NAMES.items() if any(getattr(s, f) for s in roster.students)
    }
    rows = [[*about.values(), *(labs[stem].title for stem in graded)]]
    for student, theirs in by_student(without(there, nobody)).items():
        points = [number(theirs[stem].score) if stem in theirs else "" for stem in graded]
        rows.append([*(getattr(student, f) for f in about), *points])
    remarks = [f"in Moodle map from {KEYS[key]!r}, and each lab's column to its grade item"]
    if any(score.possible > MOST for score in there):
        remarks.append(f"Moodle refuses grades above {MOST} unless the site allows unlimited ones")
    return Filled(tuple(rows), (*unplaced(scores), *nobody), tuple(remarks))


def _untold(roster: Roster, key: str) -> dict[Student, str]:
    """Explain for each student why Moodle could not tell them by a field; "" if it can."""
    shared = Counter(getattr(student, key) for student in roster.students)
    return {
        student: _why(getattr(student, key), KEYS[key].lower(), shared)
        for student in roster.students
    }


def _why(said: str, heading: str, shared: Mapping[str, int]) -> str:
    if not said:
        return f"has no {heading} in the roster"
    if shared[said] > 1:
        return f"{shared[said]} students on the roster have the {heading} {said!r}"
    if defused(said) != said:
        return f"a spreadsheet could take the {heading} {said!r} for a formula: type this grade in"
    return ""
