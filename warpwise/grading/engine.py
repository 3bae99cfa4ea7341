"""Grade a folder of submissions: find them, judge each on its own, write the gradebook and the feedback.

Each submission goes through three stages that share nothing but text: kernels are simulated, host functions run in the sandbox, and
the notebook is run again for the visible checks. Whatever a submission does, it ends in a record, and the next one is graded.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType

from tqdm import tqdm

from warpwise.errors import GradingError, LabError
from warpwise.grading import collect, gradebook, hidden, notebook, sandbox, visible
from warpwise.grading.collect import Submission
from warpwise.grading.functions import judge_function
from warpwise.grading.record import MISSING, NOT_GRADED, NOT_REACHED, Finding, Record, Result, Visible
from warpwise.grading.simulate import simulate
from warpwise.labs.source import CHECKOUT, Exercise, Lab, load_lab, role

Progress = bool | Callable[[int, int, Record], None]


@dataclass(frozen=True)
class Material:
    """What one lab is graded with: the trusted side, the same for all its submissions."""

    course: Path
    lab: Lab
    tests: ModuleType
    reference: dict
    given: tuple[str, ...]
    seed: int


def grade(
    submissions: str | Path,
    out: str | Path,
    lab: str | None = None,
    seed: int | None = None,
    unsafe_local: bool = False,
    jobs: int = 1,
    progress: Progress = False,
    course: str | Path | None = None,
) -> tuple[Record, ...]:
    """Grade every notebook in ``submissions`` and write ``grades.csv``, ``run.json`` and ``feedback/<student>.html`` below ``out``.

    ``lab`` names the one lab to grade; without it each notebook's lab is recognised. ``seed`` draws the hidden cases, and is
    secret and new unless given; ``run.json`` keeps it, so that a run can be repeated. ``unsafe_local`` runs student code without
    a sandbox and marks the grades so. ``progress`` is True for a bar on standard error with a line for each submission, or is
    called with the number done, the number in all and the record. ``course`` is the folder with solutions, labs and hidden tests.

    Raises GradingError, before anything is written, if there is nothing to grade, no such lab, or no way to keep student code
    apart.
    """
    folder, target = Path(submissions), Path(out)
    found = collect.find(folder)
    _check_target(target, folder)
    root = _course(course, folder)
    stems = _stems(root, lab)
    seed = secrets.randbits(63) if seed is None else seed
    materials = {stem: _material(root, stem, seed) for stem in stems}
    ids = {stem: {e.id for e in m.lab.exercises} for stem, m in materials.items()}
    told = collect.recognised(found, _stems(root, None), Path(lab).stem if lab else None, ids)
    mode = sandbox.NONE if unsafe_local else sandbox.isolation()
    one = partial(grade_one, materials=materials, mode=mode)
    records = tuple(_regraded(_graded(told, one, jobs, progress), told, one))
    gradebook.write(target, records, {stem: m.lab for stem, m in materials.items()}, seed)
    return records


def grade_one(submission: Submission, materials: dict[str, Material], mode: str) -> Record:
    """The record of one submission; an error of whatever kind becomes its problem."""
    start = time.monotonic()
    material = materials.get(submission.lab)
    record = Record(submission.student, submission.file, submission.lab, isolated=mode != sandbox.NONE)
    try:
        if submission.problem:
            raise GradingError(submission.problem)
        results = tuple(_results(material, notebook.read(submission.path), mode))
        record = replace(record, results=results)
    except Exception as error:
        problem = str(error) if isinstance(error, GradingError) else f"the grader failed on this ({type(error).__name__}: {error})"[:300]
        record = replace(record, problem=problem, results=tuple(_ungraded(material)))
    return replace(record, seconds=time.monotonic() - start)


def _results(material: Material, submitted: notebook.Notebook, mode: str) -> Iterator[Result]:
    answers = notebook.answers(submitted, material.lab.exercises)
    findings = _findings(material, [a for a in answers.values() if a], mode)
    shown = visible.run_again(visible.with_answers(material.reference, answers), mode)
    for exercise in material.lab.exercises:
        missing = Finding(False, MISSING, f"no cell defines {exercise.name}", "take the exercise's cell from a fresh copy of the lab")
        finding, seen = findings.get(exercise.id, missing), shown.get(exercise.id, Visible(NOT_REACHED))
        yield Result(exercise.id, exercise.points, finding, seen, exercise.choice)


def _findings(material: Material, answers: Sequence[notebook.Answer], mode: str) -> dict[str, Finding]:
    """Kernels are found on at once; the text of host functions comes back and goes into the sandbox."""
    found = simulate(material.course, material.lab.stem, material.seed, answers, material.given) if answers else {}
    return {id: f if isinstance(f, Finding) else _called(material, material.lab.exercise(id), f, mode) for id, f in found.items()}


def _called(material: Material, exercise: Exercise, text: str, mode: str) -> Finding:
    return judge_function(text, exercise.name, hidden.cases(material.tests, exercise.id, material.seed), mode)


def _ungraded(material: Material | None) -> Iterator[Result]:
    for exercise in material.lab.exercises if material else ():
        yield Result(exercise.id, exercise.points, Finding(False, NOT_GRADED), choice=exercise.choice)


def _graded(told: Sequence[Submission], one: Callable[[Submission], Record], jobs: int, progress: Progress) -> list[Record]:
    """Records in the order of the submissions, ``jobs`` at a time."""
    say = progress if callable(progress) else lambda done, all, record: None
    records = []
    with ThreadPoolExecutor(max(1, jobs)) as workers, tqdm(total=len(told), unit="submission", disable=progress is not True) as bar:
        for record in workers.map(one, told):
            records.append(record)
            if progress is True:
                bar.write(_line(record), file=sys.stderr)
            bar.update()
            say(len(records), len(told), record)
    return records


def _regraded(records: Sequence[Record], told: Sequence[Submission], one: Callable[[Submission], Record]) -> Iterator[Record]:
    """Submissions that the wall clock ended are graded once more, alone: a busy machine may have been to blame."""
    for record, submission in zip(records, told, strict=True):
        yield one(submission) if record.timed_out else record


def _line(record: Record) -> str:
    outcome = record.problem or f"{record.points:g} of {record.possible:g} points"
    return f"{record.file!r}  {outcome}  ({record.seconds:.1f} s)"


def _check_target(out: Path, submissions: Path) -> None:
    if out.exists() and not out.is_dir():
        raise GradingError(f"{out} is a file; --out names a folder")
    if submissions.resolve() in (out.resolve(), *out.resolve().parents):
        raise GradingError(f"{out} lies inside the submissions folder; grades go elsewhere")


def _course(course: str | Path | None, submissions: Path) -> Path:
    """The folder with hidden tests: the one given, else the checkout of this package, else the current folder.

    Its code is imported, so it must not lie among the submissions.
    """
    choices = [Path(course)] if course else [CHECKOUT, Path.cwd()]
    for root in (choice.resolve() for choice in choices):
        if (root / "tests" / "hidden").is_dir():
            if submissions.resolve() in (root, *root.parents):
                raise GradingError(f"the course folder {root} lies inside the submissions folder")
            return root
    raise GradingError(f"no hidden tests: there is no folder {choices[-1] / 'tests' / 'hidden'}")


def _stems(root: Path, lab: str | None) -> list[str]:
    """The labs that can be graded: those with hidden tests; or the one that is asked for."""
    stems = sorted(path.stem for path in (root / "tests" / "hidden").glob("[0-9]*.py"))
    if lab is not None and Path(lab).stem not in stems:
        raise GradingError(f"there is no lab {Path(lab).stem!r} with hidden tests; there are {', '.join(stems) or 'none'}")
    return [Path(lab).stem] if lab else stems


def _material(root: Path, stem: str, seed: int) -> Material:
    """Everything that one lab is graded with. Raises GradingError if a part is missing or an exercise has no hidden case."""
    try:
        lab = load_lab(root / "solutions" / f"{stem}.md")
    except LabError as error:
        raise GradingError(str(error)) from error
    tests = hidden.load(root, stem)
    for exercise in lab.exercises:
        hidden.cases(tests, exercise.id, seed)
    given = tuple(cell.source for cell in lab.cells if role(cell) == "given")
    return Material(root, lab, tests, visible.reference(root, stem), given, seed)
