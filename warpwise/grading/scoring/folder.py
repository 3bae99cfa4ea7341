"""A graded folder's gradebook, under the course's settings, and the pages of a student in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import material, store, unfinished
from warpwise.grading.record import Record
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring import overrides, scores
from warpwise.grading.scoring import roster as rosters
from warpwise.grading.scoring import times as known_times
from warpwise.grading.scoring.course import Course
from warpwise.grading.scoring.filled import Filled, is_left_out
from warpwise.grading.scoring.roster import Roster, Student
from warpwise.grading.scoring.scores import Score
from warpwise.grading.store import Run, file_name
from warpwise.labs.source import CHECKOUT, Lab, load_lab
from warpwise.labs.whole import whole

NOTHING_OF = "there is nothing of {} here"
HandedIn = Mapping[Student, Mapping[str, Sequence[Record]]]  #: by lab


@dataclass(frozen=True)
class Gradebook:
    """The scores of a graded folder, and their sources. ``warnings`` are for the instructor.

    ``there`` are the labs that somebody handed in, or that were assigned.
    ``unfinished`` says what is not graded yet; it is empty once everything is."""

    scores: tuple[Score, ...]
    labs: Mapping[str, Lab]
    course: Course
    roster: Roster | None
    warnings: tuple[str, ...]
    unfinished: str = ""
    there: tuple[str, ...] = ()


def gradebook(
    folder: str | Path,
    course: str | Path | None = None,
    roster: str | Path | None = None,
    due: str | None = None,
    late_policy: str | None = None,
    times: Iterable[str] = (),
    only: Collection[str] = (),
) -> Gradebook:
    """Return the gradebook of a folder that ``grade`` wrote, with the times and overrides in it.

    ``course`` is a course folder or a ``course.toml``; ``due`` and ``late_policy`` are as on the
    command line and apply to every lab; ``times`` are files, as there. With ``only`` the scores are
    those of these labs. The default of each is what ``grade`` was given. Raises
    GradingError or LabError for whatever cannot be read or makes no sense."""
    return of_run(store.load(folder), course, roster, due, late_policy, times, only)


def of_run(
    run: Run,
    course: str | Path | None = None,
    roster: str | Path | None = None,
    due: str | None = None,
    late_policy: str | None = None,
    times: Iterable[str] = (),
    only: Collection[str] = (),
) -> Gradebook:
    """Return the gradebook of a run that is loaded already; see ``gradebook``."""
    settings = settings_of(run)
    root, file = course_files(course, settings.get("course"))
    labs = {path.stem: load_lab(path) for path in sorted((root / "solutions").glob("[0-9]*.md"))}
    used = courses.load(file, labs) if file else Course()
    due, late_policy = due or settings.get("due"), late_policy or settings.get("late_policy")
    used = used.with_due(courses.due(due)) if due else used
    used = used.with_late(courses.late_policy(late_policy)) if late_policy else used
    students = roster_of(roster, settings)
    by_hand = run.folder / overrides.NAME
    fixed = overrides.load(by_hand, labs) if by_hand.exists() else ()
    records, assigned = _records(run), _assigned(run)
    stems = sorted(labs)
    there = _there(records, assigned)
    only = material.meant(there, only, NOTHING_OF) if only else ()
    settings |= known_times.given(times, labs=stems)
    records, said = timed(run, records, settings, stems, students, used)
    made = scores.scores(records, labs, used, students, fixed, assigned, datetime.now(UTC))
    warned = scores.warnings(made, used, students) + said + _waiting(run.folder)
    made = tuple(score for score in made if not only or score.lab in only)
    left = unfinished.said(run.folder)
    return Gradebook(made, labs, used, students, warned, left, tuple(there))


def _waiting(folder: Path) -> tuple[str, ...]:
    """Return a line on new grades that nobody has agreed to yet, if there are any."""
    count = sum(1 for _ in (folder / store.PENDING).glob("*.json"))
    grades = "1 new grade waits" if count == 1 else f"{count} new grades wait"
    told = f"{grades} in {folder / store.PENDING}, and the old count until `warpwise grade --yes`"
    return (told,) if count else ()


def timed(
    run: Run,
    records: list[Record],
    settings: Mapping[str, str],
    labs: Sequence[str],
    students: Roster | None,
    course: Course,
) -> tuple[list[Record], tuple[str, ...]]:
    """Return the records with the times in the run's files, and warnings about those.

    Raises GradingError as ``times.applied`` does."""
    files = known_times.files(settings, run.folder)
    if not files:
        return records, ()
    shared = sorted(_assigned(run) or {record.lab for record in records} - {""})
    return known_times.applied(records, files, labs, shared, students, course.zone)


def pages(folder: str | Path, student: str, suffix: str = ".html") -> tuple[Path, ...]:
    """Return the paths of a student's pages, given any name that the roster knows.

    Raises GradingError if there is no such student or page."""
    run = store.load(folder)
    names = submitters(run, student)
    if not names:
        raise GradingError(f"{student!r} handed nothing in, so there is no page")
    paths = tuple(run.folder / "feedback" / f"{file_name(name)}{suffix}" for name in sorted(names))
    for path in paths:
        if not path.is_file():
            raise GradingError(f"{path} is missing; grade again to write the pages")
    return paths


def submitters(run: Run, student: str) -> frozenset[str]:
    """Return what a student's records call them, given any name that the roster knows.

    Raises GradingError if there is no such student."""
    everyone, handed_in = people(run)
    named = {record.student for labs in handed_in.values() for rs in labs.values() for record in rs}
    if student in named:
        return frozenset([student])
    theirs = handed_in.get(person(run.folder, student, everyone, handed_in), {}).values()
    return frozenset(record.student for records in theirs for record in records)


def people(run: Run) -> tuple[Roster, HandedIn]:
    """Return everyone on the roster or with a record, and what each of them handed in."""
    roster = roster_of(None, settings_of(run))
    handed_in = scores.by_student(_records(run), roster)
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


def _records(run: Run) -> list[Record]:
    """Return the records that count, in outline, with stand-ins for what is not graded yet."""
    return [store.outline(kept.record) for kept in unfinished.kept(unfinished.current(run))]


def save(path: str | Path, text: str) -> None:
    """Write a gradebook, whole. Raises GradingError if it cannot be written."""
    try:
        whole(Path(path), text)
    except OSError as error:
        raise GradingError(f"{path} cannot be written: {error.strerror}") from error


def save_left_out(gradebook: Path | None, table: Filled) -> Iterator[str]:
    """Write what has no place in a gradebook beside it, and yield a line that says so.

    A file of an earlier gradebook goes if everything has its place now. Raises GradingError."""
    path = gradebook and gradebook.with_name(f"{gradebook.stem}-unknown.csv")
    if not table.left_out:
        if path and is_left_out(path):
            path.unlink()
        return
    if path:
        save(path, table.left_out_text)
    count = len(table.left_out)
    what = "1 score has" if count == 1 else f"{count} scores have"
    where = f"see {path}" if path else "--out writes them, each with its reason, beside its file"
    yield f"{what} no place in this table: {where}"


def settings_of(run: store.Run) -> dict[str, str]:
    """Return the settings that ``grade`` was given."""
    return {key: str(value) for key, value in (run.about.get("settings") or {}).items() if value}


def labs_of(run: Run) -> list[str]:
    """List the labs that a graded folder has records of, or that were assigned."""
    return _there(_records(run), _assigned(run))


def _there(records: Iterable[Record], assigned: Collection[str] | None) -> list[str]:
    return sorted(({record.lab for record in records} | set(assigned or ())) - {""})


def _assigned(run: store.Run) -> set[str] | None:
    """Return the labs that were assigned; None in a folder that says nothing of them."""
    said = run.about.get("assigned")
    return None if said is None else {stem for stems in said.values() for stem in stems}


def roster_of(given: str | Path | None, settings: Mapping[str, str]) -> Roster | None:
    """Return the roster that is given, or else the one that ``grade`` was given, if any."""
    path = given or settings.get("roster")
    return rosters.load(path) if path else None


def course_files(given: str | Path | None, graded_with: str | None) -> tuple[Path, Path | None]:
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
    return f"there is no student {student!r} in {folder}{everyone.meant(student)}"
