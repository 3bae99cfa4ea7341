"""A graded folder's gradebook, under the course's settings, and the pages of a student in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import store
from warpwise.grading.record import Record
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring import overrides, scores, times
from warpwise.grading.scoring import roster as rosters
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.roster import Roster, Student
from warpwise.grading.scoring.scores import Score
from warpwise.grading.store import Run, file_name, whole
from warpwise.labs.source import CHECKOUT, Lab, load_lab
from warpwise.simt.compiler.advice import nearest

HandedIn = Mapping[Student, Mapping[str, Sequence[Record]]]  #: by lab


@dataclass(frozen=True)
class Gradebook:
    """The scores of a graded folder, and their sources. ``warnings`` are for the instructor."""

    scores: tuple[Score, ...]
    labs: Mapping[str, Lab]
    course: Course
    roster: Roster | None
    warnings: tuple[str, ...]


def gradebook(
    folder: str | Path,
    course: str | Path | None = None,
    roster: str | Path | None = None,
    due: str | None = None,
    late_policy: str | None = None,
) -> Gradebook:
    """Return the gradebook of a folder that ``grade`` wrote, with the times and overrides in it.

    ``course`` is a course folder or a ``course.toml``; ``due`` and ``late_policy`` are as on the
    command line and apply to every lab. The default of each is what ``grade`` was given. Raises
    GradingError or LabError for whatever cannot be read or makes no sense."""
    return of_run(store.load(folder), course, roster, due, late_policy)


def of_run(
    run: Run,
    course: str | Path | None = None,
    roster: str | Path | None = None,
    due: str | None = None,
    late_policy: str | None = None,
) -> Gradebook:
    """Return the gradebook of a run that is loaded already; see ``gradebook``."""
    settings = _settings(run)
    root, file = _course(course, settings.get("course"))
    labs = {path.stem: load_lab(path) for path in sorted((root / "solutions").glob("[0-9]*.md"))}
    used = courses.load(file, labs) if file else Course()
    due, late_policy = due or settings.get("due"), late_policy or settings.get("late_policy")
    used = used.with_due(courses.due(due)) if due else used
    used = used.with_late(courses.late_policy(late_policy)) if late_policy else used
    students = _roster(roster, settings)
    by_hand = run.folder / overrides.NAME
    fixed = overrides.load(by_hand, labs) if by_hand.exists() else ()
    records: Iterable[Record] = map(store.outline, run.records)
    known = run.folder / times.NAME
    if known.exists():
        records = times.applied(records, known, labs, students)
    made = scores.scores(records, labs, used, students, fixed)
    return Gradebook(made, labs, used, students, scores.warnings(made, used, students))


def note_for_student(score: Score) -> str:
    """Explain a score that is not simply the sum of the exercises' points; "" if it is."""
    if not (score.overridden or score.penalty or score.late_days):
        return ""
    return f"{score.score:g} of {score.possible:g} points count in the gradebook ({score.note})."


def pages(folder: str | Path, student: str, suffix: str = ".html") -> tuple[Path, ...]:
    """Return the paths of a student's pages, given any name that the roster knows.

    Raises GradingError if there is no such student or page."""
    run = store.load(folder)
    names = {record.student for record in run.records}
    if student in names:
        names = {student}
    else:
        everyone, handed_in = people(run)
        theirs = handed_in.get(person(run.folder, student, everyone, handed_in), {}).values()
        names = {record.student for records in theirs for record in records}
        if not names:
            raise GradingError(f"{student!r} handed nothing in, so there is no page")
    paths = tuple(run.folder / "feedback" / f"{file_name(name)}{suffix}" for name in sorted(names))
    for path in paths:
        if not path.is_file():
            raise GradingError(f"{path} is missing; grade again to write the pages")
    return paths


def people(run: Run) -> tuple[Roster, HandedIn]:
    """Return everyone on the roster or with a record, and what each of them handed in."""
    roster = _roster(None, _settings(run))
    handed_in = scores.by_student(map(store.outline, run.records), roster)
    return scores.everyone(handed_in, roster), handed_in


def person(folder: Path, name: str, everyone: Roster, handed_in: HandedIn) -> Student:
    """Return the student with a name, which may also be that of their submission.

    Raises GradingError if there are none or several."""
    for student, labs in handed_in.items():
        if any(record.student == name for records in labs.values() for record in records):
            return student
    found = everyone.find(name)
    if found is None:
        raise GradingError(_nobody(folder, name, everyone))
    return found


def save(path: str | Path, text: str) -> None:
    """Write a gradebook, whole. Raises GradingError if it cannot be written."""
    try:
        whole(Path(path), text)
    except OSError as error:
        raise GradingError(f"{path} cannot be written: {error.strerror}") from error


def _settings(run: store.Run) -> dict[str, str]:
    """Return the settings that ``grade`` was given."""
    return {key: str(value) for key, value in (run.about.get("settings") or {}).items() if value}


def _roster(given: str | Path | None, settings: Mapping[str, str]) -> Roster | None:
    path = given or settings.get("roster")
    return rosters.load(path) if path else None


def _course(given: str | Path | None, graded_with: str | None) -> tuple[Path, Path | None]:
    """Return the folder that has the labs' sources, and the file of settings, if any."""
    chosen = [Path(path) for path in (given, graded_with) if path]
    if chosen and not chosen[0].exists():
        raise GradingError(f"there is no course at {chosen[0]}; name it with --course")
    folders = [path if path.is_dir() else path.parent for path in chosen]
    root = next((f for f in (*folders, CHECKOUT, Path.cwd()) if (f / "solutions").is_dir()), None)
    if root is None:
        raise GradingError(
            "no lab sources: there is no folder solutions here; name the course's folder with "
            "--course"
        )
    file = (folders or [root])[0] / courses.NAME
    if chosen and not chosen[0].is_dir():
        file = chosen[0]
    return root, file if file.exists() else None


def _nobody(folder: Path, student: str, everyone: Roster) -> str:
    if everyone.fitting(student):
        return f"{student!r} {everyone.why(student)}"
    known = (name for s in everyone.students for name in (s.id, s.full_name, s.email) if name)
    near = nearest(student, known)
    hint = f"; did you mean {near}?" if near else ""
    return f"there is no student {student!r} in {folder}{hint}"
