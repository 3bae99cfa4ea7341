"""What a graded folder comes to: its gradebook under the course's settings, and where a student's page is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import store
from warpwise.grading.gradebook import file_name
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring import overrides, scores
from warpwise.grading.scoring import roster as rosters
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.roster import Roster
from warpwise.grading.scoring.scores import Score
from warpwise.grading.store import whole
from warpwise.labs.source import CHECKOUT, Lab, load_lab
from warpwise.simt.language.advice import nearest


@dataclass(frozen=True)
class Gradebook:
    """The scores of a graded folder and what they were made with. ``warnings`` are lines for the instructor."""

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
    """The gradebook of a folder that ``grade`` wrote, with the overrides that lie in it.

    ``course`` is a course folder or a ``course.toml``, ``due`` and ``late_policy`` are as on the command line and hold for every lab.
    What is left out is as ``grade`` was given it. Raises GradingError or LabError for whatever cannot be read or makes no sense.
    """
    run = store.load(folder)
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
    made = scores.scores(run.records, labs, used, students, fixed)
    return Gradebook(made, labs, used, students, scores.warnings(made, used, students))


def told(score: Score) -> str:
    """What a student is told of a score that is not simply the points of the exercises; nothing otherwise."""
    if not (score.overridden or score.penalty or score.late_days):
        return ""
    return f"{score.score:g} of {score.possible:g} points count in the gradebook ({score.note})."


def pages(folder: str | Path, student: str, suffix: str = ".html") -> tuple[Path, ...]:
    """The pages of one student, of whom any name will do that a roster knows. Raises GradingError if there is no such student or page."""
    run = store.load(folder)
    roster = _roster(None, _settings(run))
    handed_in = scores.by_student(run.records, roster)
    names = {record.student for record in run.records}
    if student not in names:
        found = scores.everyone(handed_in, roster).find(student)
        if found is None:
            raise GradingError(_nobody(run.folder, student, scores.everyone(handed_in, roster)))
        names = {record.student for records in handed_in.get(found, {}).values() for record in records}
        if not names:
            raise GradingError(f"{student!r} handed nothing in, so there is no page")
    else:
        names = {student}
    paths = tuple(run.folder / "feedback" / f"{file_name(name)}{suffix}" for name in sorted(names))
    for path in paths:
        if not path.is_file():
            raise GradingError(f"{path} is missing; grade again, which makes the pages anew")
    return paths


def save(path: str | Path, text: str) -> None:
    """Write a gradebook, whole. Raises GradingError if it cannot be written."""
    try:
        whole(Path(path), text)
    except OSError as error:
        raise GradingError(f"{path} cannot be written: {error.strerror}") from error


def _settings(run: store.Run) -> dict[str, str]:
    """What ``grade`` was given and a gradebook needs."""
    return {key: str(value) for key, value in (run.about.get("settings") or {}).items() if value}


def _roster(given: str | Path | None, settings: Mapping[str, str]) -> Roster | None:
    path = given or settings.get("roster")
    return rosters.load(path) if path else None


def _course(given: str | Path | None, graded_with: str | None) -> tuple[Path, Path | None]:
    """The folder that has the labs' sources, and the file of settings, if there is one."""
    chosen = [Path(path) for path in (given, graded_with) if path]
    for path in chosen[:1]:
        if not path.exists():
            raise GradingError(f"there is no course at {path}; name it with --course")
    folders = [path if path.is_dir() else path.parent for path in chosen]
    root = next((f for f in (*folders, CHECKOUT, Path.cwd()) if (f / "solutions").is_dir()), None)
    if root is None:
        raise GradingError("no lab sources: there is no folder solutions here; name the course's folder with --course")
    file = next((path for path in chosen[:1] if not path.is_dir()), (folders or [root])[0] / courses.NAME)
    return root, file if file.exists() else None


def _nobody(folder: Path, student: str, everyone: Roster) -> str:
    if everyone.fitting(student):
        return f"{student!r} {everyone.why(student)}"
    near = nearest(student, [name for s in everyone.students for name in (s.id, s.full_name, s.email) if name])
    return f"there is no student {student!r} in {folder}{f'; did you mean {near}?' if near else ''}"
