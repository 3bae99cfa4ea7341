"""A gradebook in the form that a platform reads, or as one plain table.

Canvas reads its file back (Grades, Import): a column whose heading is an assignment's name fills that assignment. nbgrader's and
Gradescope's are the files that these themselves export, for whatever reads them. No cell is taken for a formula, and the same scores
give the same bytes.
"""

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
    "assignment duedate timestamp student_id last_name first_name email raw_score late_submission_penalty score max_score".split()
)
PLAIN = tuple(
    "student name email section lab raw possible penalty score submitted due late_days overridden note file course_percent".split()
)
POINTS = r"(points) (possible)"  # a row whose first cell has these words is to Canvas one of points, not of a student


def export(scores: Sequence[Score], form: str, labs: Mapping[str, Lab], course: Course, roster: Roster | None = None) -> str:
    """The gradebook as CSV text. ``form`` is one of FORMS. Raises GradingError if there is no other form of this name."""
    if form not in FORMS:
        raise GradingError(f"there is no format {form!r}; there are {', '.join(FORMS)}")
    return sheet.written(FORMS[form](scores, labs, course, roster))


def _canvas(scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None) -> Iterator[list[str]]:
    stems = _stems(scores)
    yield [*CANVAS, *(_heading(labs[stem], roster) for stem in stems)]
    possible = {score.lab: score.possible for score in scores}
    yield ["    Points Possible", "", "", "", "", *(_number(possible[stem]) for stem in stems)]
    for student, theirs in _by_student(scores).items():
        section = student.section or student.unlisted
        name = f"{student.last}, {student.first}" if student.last and student.first else student.full_name
        name = re.sub(POINTS, r"\1-\2", name or student.id, flags=re.I)
        about = [name, student.canvas_id, student.sis_id, student.login or ("" if student.canvas_id else student.id), section]
        yield [*about, *(_number(theirs[stem].score) for stem in stems)]


def _gradescope(scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None) -> Iterator[list[str]]:
    stems = _stems(scores)
    of_a_lab = ("", " - Max Points", " - Submission Time", " - Lateness (H:M:S)")
    headings = [f"{_heading(labs[stem], roster)}{what}" for stem in stems for what in of_a_lab]
    yield [*GRADESCOPE, *headings, "Total Lateness (H:M:S)"]
    for student, theirs in _by_student(scores).items():
        first, last = (student.first, student.last) if student.first or student.last else (student.name, "")
        cells = [first, last, student.sis_id or student.id, student.email, student.section or student.unlisted]
        for stem in stems:
            score = theirs[stem]
            handed_in = f"{score.submitted:%Y-%m-%d %H:%M:%S %z}" if score.submitted else ""
            cells += [_number(score.score), _number(score.possible), handed_in, _hours(_lateness(score)) if score.submitted else ""]
        yield [*cells, _hours(sum(map(_lateness, theirs.values()), timedelta()))]


def _nbgrader(scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None) -> Iterator[list[str]]:
    yield list(NBGRADER)
    for stem in _stems(scores):
        for score in (score for score in scores if score.lab == stem):
            student, times = score.student, [_utc(score.due), _utc(score.submitted)]
            numbers = [str(float(number)) for number in (score.raw, score.penalty, score.score, score.possible)]
            yield [stem, *times, student.id, student.last, student.first or student.name, student.email, *numbers]


def _plain(scores: Sequence[Score], labs: Mapping[str, Lab], course: Course, roster: Roster | None) -> Iterator[list[str]]:
    yield list(PLAIN)
    totals = percentages(scores, course)
    for score in scores:
        student = score.student
        numbers = [_number(number) for number in (score.raw, score.possible, score.penalty, score.score)] if score.lab else [""] * 4
        times = [moment.isoformat() if moment else "" for moment in (score.submitted, score.due)]
        rest = [str(score.late_days), "yes" if score.overridden else "", score.note, score.file]
        total = _number(totals[student]) if student in totals else ""
        yield [student.id, student.full_name, student.email, student.section, score.lab, *numbers, *times, *rest, total]


FORMS: dict[str, Callable[[Sequence[Score], Mapping[str, Lab], Course, Roster | None], Iterator[list[str]]]] = {
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
    """The platform's own name of a lab, with the number that Canvas puts after it, if the roster has such a column; else its title."""
    for column in roster.columns if roster else ():
        if folded(re.sub(r"\s*\(\d+\)$", "", column)) in (folded(lab.title), folded(lab.stem)):
            return column
    return lab.title


def _number(number: float) -> str:
    text = f"{number:.2f}"
    return text.rstrip("0").rstrip(".")


def _lateness(score: Score) -> timedelta:
    return max(timedelta(), score.submitted - score.due) if score.submitted and score.due else timedelta()


def _hours(lateness: timedelta) -> str:
    minutes, seconds = divmod(int(lateness.total_seconds()), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _utc(moment: datetime | None) -> str:
    """nbgrader keeps times in UTC and writes them without saying so."""
    return str(moment.astimezone(UTC).replace(tzinfo=None)) if moment else ""
