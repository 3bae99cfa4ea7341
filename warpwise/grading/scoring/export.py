"""A gradebook in the format of a platform, or as one plain table.

Canvas imports its file (Grades, Import): a column headed with an assignment's name fills that
assignment. nbgrader's and Gradescope's formats are those of their own exports, for whatever reads
them. No cell is taken for a formula, and the same scores give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from warpwise.errors import GradingError
from warpwise.grading.scoring import sheet
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.roster import Roster, Student, folded
from warpwise.grading.scoring.scores import Score, percentages
from warpwise.labs.source import Lab

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
GRADESCOPE = ("First Name", "Last Name", "SID", "Email", "Sections")
NBGRADER = tuple(
    "assignment duedate timestamp student_id last_name first_name email raw_score "
    "late_submission_penalty score max_score".split()
)
PLAIN = tuple(
    "student name email section lab raw possible penalty score submitted due late_days overridden "
    "note file course_percent".split()
)
# Canvas takes a row whose first cell has these words for points, not for a student.
POINTS = r"(points) (possible)"


def export(
    scores: Sequence[Score],
    form: str,
    labs: Mapping[str, Lab],
    course: Course,
    roster: Roster | None = None,
) -> str:
    """Return the gradebook as CSV text; ``form`` is one of FORMS.

    Raises GradingError for any other form."""
    if form not in FORMS:
        raise GradingError(f"there is no format {form!r}; the formats are {', '.join(FORMS)}")
    return sheet.written(FORMS[form](scores, labs, course, roster))


def _canvas(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Iterator[list[str]]:
    stems = _stems(scores)
    yield [*CANVAS, *(_heading(labs[stem], roster) for stem in stems)]
    possible = {score.lab: score.possible for score in scores}
    yield ["    Points Possible", "", "", "", "", *(_number(possible[stem]) for stem in stems)]
    for student, theirs in _by_student(scores).items():
        name = student.full_name or student.id
        if student.last and student.first:
            name = f"{student.last}, {student.first}"
        yield [
            re.sub(POINTS, r"\1-\2", name, flags=re.I),
            student.canvas_id,
            student.sis_id,
            student.login or ("" if student.canvas_id else student.id),
            student.section or student.unlisted,
            *(_points(theirs[stem], theirs[stem].score) for stem in stems),
        ]


def _gradescope(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Iterator[list[str]]:
    stems = _stems(scores)
    of_a_lab = ("", " - Max Points", " - Submission Time", " - Lateness (H:M:S)")
    headings = [f"{_heading(labs[stem], roster)}{what}" for stem in stems for what in of_a_lab]
    yield [*GRADESCOPE, *headings, "Total Lateness (H:M:S)"]
    for student, theirs in _by_student(scores).items():
        cells = [
            student.first if student.first or student.last else student.name,
            student.last,
            student.sis_id or student.id,
            student.email,
            student.section or student.unlisted,
        ]
        for stem in stems:
            score = theirs[stem]
            handed_in = late = ""
            if score.submitted:
                handed_in = f"{score.submitted:%Y-%m-%d %H:%M:%S %z}"
                late = _hours(_lateness(score))
            cells += [_points(score, score.score), _number(score.possible), handed_in, late]
        yield [*cells, _hours(sum(map(_lateness, theirs.values()), timedelta()))]


def _nbgrader(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Iterator[list[str]]:
    yield list(NBGRADER)
    for stem in _stems(scores):
        for score in (score for score in scores if score.lab == stem):
            student = score.student
            times = [_utc(score.due), _utc(score.submitted)]
            names = [student.id, student.last, student.first or student.name, student.email]
            numbers = [str(float(n)) for n in (score.raw, score.penalty, score.score)]
            numbers = ["", "", ""] if score.not_yet else numbers
            yield [stem, *times, *names, *numbers, str(float(score.possible))]


def _plain(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Iterator[list[str]]:
    yield list(PLAIN)
    totals = percentages(scores, course)
    for score in scores:
        student = score.student
        about = [student.id, student.full_name, student.email, student.section, score.lab]
        numbers = (score.raw, score.possible, score.penalty, score.score)
        points = [_points(score, number) if score.lab else "" for number in numbers]
        times = [moment.isoformat() if moment else "" for moment in (score.submitted, score.due)]
        rest = [str(score.late_days), "yes" if score.overridden else "", score.note, score.file]
        total = _number(totals[student]) if student in totals else ""
        yield [*about, *points, *times, *rest, total]


Form = Callable[[Sequence[Score], Mapping[str, Lab], Course, Roster | None], Iterator[list[str]]]
FORMS: dict[str, Form] = {
    "csv": _plain,
    "canvas": _canvas,
    "gradescope": _gradescope,
    "nbgrader": _nbgrader,
}


def _stems(scores: Sequence[Score]) -> list[str]:
    return sorted({score.lab for score in scores if score.lab})


def _by_student(scores: Sequence[Score]) -> dict[Student, dict[str, Score]]:
    found: dict[Student, dict[str, Score]] = {}
    for score in scores:
        found.setdefault(score.student, {})[score.lab] = score
    return found


def _heading(lab: Lab, roster: Roster | None) -> str:
    """Return the platform's name of a lab, if the roster has a column for it, or its title.

    Canvas puts a number in brackets after the name."""
    for column in roster.columns if roster else ():
        if folded(re.sub(r"\s*\(\d+\)$", "", column)) in (folded(lab.title), folded(lab.stem)):
            return column
    return lab.title


def _points(score: Score, number: float) -> str:
    """Write a number of a score, which is blank while the submission is not graded yet."""
    return "" if score.not_yet else _number(number)


def _number(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _lateness(score: Score) -> timedelta:
    if not (score.submitted and score.due):
        return timedelta()
    return max(timedelta(), score.submitted - score.due)


def _hours(lateness: timedelta) -> str:
    minutes, seconds = divmod(int(lateness.total_seconds()), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _utc(moment: datetime | None) -> str:
    """Write a time as nbgrader does: in UTC, without an offset."""
    return str(moment.astimezone(UTC).replace(tzinfo=None)) if moment else ""
