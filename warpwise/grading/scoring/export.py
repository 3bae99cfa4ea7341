"""A gradebook in the format of a platform, or as one plain table.

Canvas and Moodle import their files (``canvas``, ``moodle``). nbgrader's and Gradescope's formats
are those of their own exports, for whatever reads them. No cell is taken for a formula, and the
same scores give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from warpwise.errors import GradingError
from warpwise.grading.scoring import canvas, moodle
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.filled import Filled, by_student, labs_of, number
from warpwise.grading.scoring.roster import Roster, folded
from warpwise.grading.scoring.scores import Score, percentages
from warpwise.labs.source import Lab

GRADESCOPE = ("First Name", "Last Name", "SID", "Email", "Sections")
NBGRADER = tuple(
    "assignment duedate timestamp student_id last_name first_name email raw_score "
    "late_submission_penalty score max_score".split()
)
PLAIN = tuple(
    "student name email section lab raw possible penalty score submitted due late_days overridden "
    "note file course_percent".split()
)


def table(
    scores: Sequence[Score],
    form: str,
    labs: Mapping[str, Lab],
    course: Course,
    roster: Roster | None = None,
) -> Filled:
    """Return the gradebook as a table; ``form`` is one of FORMS.

    Raises GradingError for any other form, and for what the platform of the form cannot take."""
    if form not in FORMS:
        raise GradingError(f"there is no format {form!r}; the formats are {', '.join(FORMS)}")
    return FORMS[form](scores, labs, course, roster)


def _gradescope(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Iterator[list[str]]:
    stems = labs_of(scores)
    of_a_lab = ("", " - Max Points", " - Submission Time", " - Lateness (H:M:S)")
    headings = [f"{_heading(labs[stem], roster)}{what}" for stem in stems for what in of_a_lab]
    yield [*GRADESCOPE, *headings, "Total Lateness (H:M:S)"]
    for student, theirs in by_student(scores).items():
        cells = [
            student.first if student.first or student.last else student.name,
            student.last,
            student.sis_id or student.id,
            student.email,
            student.section or student.unlisted,
        ]
        for stem in stems:
            score = theirs.get(stem)
            if score is None:  # of a lab that was not assigned
                cells += [""] * len(of_a_lab)
                continue
            handed_in = late = ""
            if score.submitted:
                handed_in = f"{score.submitted:%Y-%m-%d %H:%M:%S %z}"
                late = _hours(_lateness(score))
            cells += [_points(score, score.score), number(score.possible), handed_in, late]
        yield [*cells, _hours(sum(map(_lateness, theirs.values()), timedelta()))]


def _nbgrader(
    scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
) -> Iterator[list[str]]:
    yield list(NBGRADER)
    for stem in labs_of(scores):
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
        points = [_points(score, value) for value in numbers]
        times = [moment.isoformat() if moment else "" for moment in (score.submitted, score.due)]
        rest = [str(score.late_days), "yes" if score.overridden else "", score.note, score.file]
        total = number(totals[student]) if student in totals else ""
        yield [*about, *points, *times, *rest, total]


Rows = Callable[[Sequence[Score], Mapping[str, Lab], Course, Roster | None], Iterator[list[str]]]
Form = Callable[[Sequence[Score], Mapping[str, Lab], Course, Roster | None], Filled]


def _of_all(rows: Rows) -> Form:
    """Return a form in which every score has its place."""

    def filled(
        scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None
    ) -> Filled:
        return Filled(tuple(rows(scores, labs, course, roster)))

    return filled


FORMS: dict[str, Form] = {
    "csv": _of_all(_plain),
    "canvas": canvas.filled,
    "moodle": moodle.filled,
    "gradescope": _of_all(_gradescope),
    "nbgrader": _of_all(_nbgrader),
}


def _heading(lab: Lab, roster: Roster | None) -> str:
    """Return the platform's name of a lab, if the roster has a column for it, or its title."""
    for column in roster.columns if roster else ():
        if folded(re.sub(r"\s*\(\d+\)$", "", column)) in (folded(lab.title), folded(lab.stem)):
            return column
    return lab.title


def _points(score: Score, value: float) -> str:
    return "" if score.blank else number(value)


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
