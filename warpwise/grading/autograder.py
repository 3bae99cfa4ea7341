"""Grade one submission on Gradescope, into ``results.json``. ``gradescope`` packs the files.

    python -I -m warpwise.grading.autograder /autograder

Points are those of ``warpwise grade``: kernels are interpreted, host functions run as a user who
can read none of the grader's files (``container``). The notebook's own checks are not run again
here. Whatever happens, a results file says so. Only NumPy is needed, so that little has to be
installed there."""

from __future__ import annotations

import hmac
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from warpwise.errors import GradingError
from warpwise.grading import container, hidden, notebook, older, sandbox, simulate
from warpwise.grading.host import judge_function
from warpwise.grading.outcome import partly
from warpwise.grading.record import (
    NO_COMPILER,
    NOT_GRADED,
    UNTOUCHED,
    Counter,
    Finding,
    Record,
    Result,
    missing,
)
from warpwise.grading.shares import against
from warpwise.labs.compiler_budget import has_budget
from warpwise.labs.exercise import Reason

#: of one simulation; the container has 768 MB, of which the grader itself takes 100
MEMORY_BYTES = 512 << 20
FAILED = (
    "The grader itself failed, so nothing was graded. "
    "This is not your fault: tell your instructor, who can run it again."
)


@dataclass(frozen=True)
class Exercise:
    """An exercise as ``lab.json`` has it, with its heading and its objective."""

    id: str
    points: float
    kind: str
    name: str
    choice: str = ""
    title: str = ""
    objective: str = ""


@dataclass(frozen=True)
class Packed:
    """Everything that one lab is graded with, as ``gradescope`` has packed it."""

    folder: Path
    stem: str
    title: str
    version: str
    seed: int
    given: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    digests: Mapping[str, str] = field(default_factory=dict)  #: of the exercises: see ``older``
    over_budget: float = 0  #: percent of its points that a right result over budget earns


def main() -> None:
    root = Path(sys.argv[1])
    try:
        results = grade(root)
    except Exception as error:  # whatever it is, the student's page must say it
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        results = {"score": 0, "output": FAILED, "output_format": "text"}
    write(root / "results", results | {"stdout_visibility": "hidden"})


def grade(root: Path) -> dict[str, Any]:
    """Grade the submission below ``root``. Raises GradingError if this machine cannot."""
    lab = load(root / "source")
    container.check(root / "source")
    about = root / "submission_metadata.json"
    for path in (root / "results", about):
        if path.exists():
            os.chmod(path, 0o700 if path.is_dir() else 0o600)
    try:
        submitted = notebook.read(find_notebook(root / "submission", lab.stem))
        record = recorded(lab, submitted, tuple(judge(lab, submitted, number_of(about))))
    except GradingError as error:
        failed = Finding(False, NOT_GRADED)
        results = (Result(e.id, e.points, failed, choice=e.choice) for e in lab.exercises)
        record = Record("", "", lab.stem, tuple(results), str(error))
    return report(lab, record)


def recorded(lab: Packed, submitted: notebook.Notebook, results: Sequence[Result]) -> Record:
    """Return the record of a notebook, which may be of an older version of the lab."""
    today = older.Today(lab.stem, lab.title, lab.version, lab.digests)
    found, note = older.graded(results, submitted, today)
    return Record("", "", lab.stem, found, note=note)


def number_of(about: Path) -> object:
    """Return the platform's number of a submission, None if it gives none."""
    with suppress(OSError, ValueError, AttributeError):
        return json.loads(about.read_text("utf-8")).get("id")
    return None


def seed_for(submission: object, answers: Iterable[str], secret: int) -> int:
    """Return the seed for a submission: the same when it is run again, another for the next one.

    So what students learn of their hidden cases does not help with what they hand in after it, and
    nobody can work it out without the bundle's secret. ``submission`` is the platform's number."""
    said = json.dumps([submission, *answers]).encode()
    return int.from_bytes(hmac.digest(str(secret).encode(), said, "sha256")[:7], "big")


def load(folder: Path) -> Packed:
    """Read what ``gradescope.bundle`` wrote. Raises GradingError if it is damaged."""
    try:
        fields = json.loads((folder / "lab.json").read_text("utf-8"))
        exercises = tuple(Exercise(**exercise) for exercise in fields.pop("exercises"))
        return Packed(folder, **fields | {"given": tuple(fields["given"]), "exercises": exercises})
    except (OSError, ValueError, TypeError, KeyError) as error:
        damaged = f"{folder / 'lab.json'} is damaged ({error})"
        raise GradingError(f"{damaged}: pack the lab again") from error


def find_notebook(folder: Path, stem: str) -> Path:
    """Find the notebook to grade: the one that is named after the lab, else the only one.

    Raises GradingError, which the student reads."""
    names: list[Path] = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__MACOSX")))
        notebooks = (f for f in sorted(files) if f.lower().endswith(".ipynb"))
        names += [Path(here, f) for f in notebooks if not f.startswith(".")]
    if not names:
        raise GradingError(f"there is no notebook in this submission; hand in {stem}.ipynb")
    exactly = [path for path in names if path.stem == stem]
    named = exactly or [path for path in names if stem in path.stem] or names
    if len(named) > 1:
        several = f"there are {len(named)} notebooks in this submission"
        raise GradingError(f"{several}; hand in one, called {stem}.ipynb")
    return named[0]


def judge(lab: Packed, submitted: notebook.Notebook, number: object) -> Iterator[Result]:
    """Judge each exercise."""
    answers = notebook.answers(submitted, lab.exercises, lab.given)
    texts = [answer.text if answer else "" for answer in answers.values()]
    lab = replace(lab, seed=seed_for(number, texts, lab.seed))
    print(f"hidden cases of this submission: --seed {lab.seed}")  # only instructors see this
    limits = replace(simulate.LIMITS, memory_bytes=MEMORY_BYTES)
    begun = [answer for answer in answers.values() if answer]
    found: dict[str, simulate.Simulated] = {}
    if begun:
        about = (lab.folder, lab.stem, lab.seed)
        found = simulate.simulate(*about, begun, lab.given, limits=limits)
    tests = hidden.load(lab.folder, lab.stem)
    for exercise in lab.exercises:
        finding = missing(exercise.name)
        if exercise.id in found:
            finding = _finding(lab, tests, exercise, found[exercise.id])
        said = _of_compiler(lab, tests, exercise, finding)
        own = Result(exercise.id, exercise.points, finding, choice=exercise.choice)
        yield replace(own, compiler=said)


def _of_compiler(lab: Packed, tests: ModuleType, exercise: Exercise, finding: Finding) -> str:
    """Say of a kernel that passed and has a budget for the compiler that there is none here."""
    if exercise.kind != "kernel" or not finding.passed:
        return ""
    return NO_COMPILER if has_budget(hidden.cases(tests, exercise.id, lab.seed)) else ""


def _finding(
    lab: Packed, tests: ModuleType, exercise: Exercise, simulated: simulate.Simulated
) -> Finding:
    if simulated.finding is not None:
        return simulated.finding
    about = (tests, exercise.id, lab.seed)
    asked = (simulated.text, exercise.name, hidden.calls(*about), sandbox.CONTAINER)
    more = partial(hidden.more_calls, *about)
    return judge_function(*asked, more, endless=simulated.endless)


def report(lab: Packed, record: Record) -> dict[str, Any]:
    """Make the results as Gradescope reads them.

    No test is hidden, since that would hide the total too; secrets are in none."""
    exercises = {exercise.id: exercise for exercise in lab.exercises}
    told = f"<p>{escape(lab.title)}, version {escape(lab.version)}.</p>"
    if record.note:
        told += f"<p>{escape(record.note)}</p>"
    if record.problem:
        told = f"<p><strong>This could not be graded:</strong> {escape(record.problem)}.</p>{told}"
    scored = record.scored
    share = lab.over_budget
    tests = [_test(exercises[r.exercise], r, r in scored, share) for r in record.results]
    return {
        "score": record.earned(share),
        "output": told,
        "output_format": "html",
        "visibility": "visible",
        "tests": tests,
        "extra_data": {"lab": lab.stem, "version": lab.version},
    }


def _test(exercise: Exercise, result: Result, counts: bool, share: float) -> dict[str, Any]:
    shown = {
        "name": exercise.title or exercise.id,
        "name_format": "text",
        "output_format": "html",
        "visibility": "visible",
    }
    if not counts:
        if result.finding.reason in UNTOUCHED:
            return shown | {"output": "<p>Not chosen.</p>"}
        told = "<p>This does not count: another exercise of the choice does.</p>"
        return shown | {"output": told + "".join(explain(exercise, result))}
    passed, earned = "passed" if result.points else "failed", result.earned(share)
    points = {"score": earned, "max_score": result.possible, "status": passed}
    part = partly(share, result) if earned > result.points else ""
    told = f"<p>{part}</p>" if part else ""
    return shown | points | {"output": told + "".join(explain(exercise, result))}


def explain(exercise: Exercise, result: Result) -> Iterator[str]:
    """Explain a result to the student: objective, reason, counters against budgets, advice."""
    finding = result.finding
    if exercise.objective:
        yield f"<p>{escape(exercise.objective)}</p>"
    reason = finding.reason.replace("_", " ")
    yield f"<p><strong>{escape(reason[:1].upper() + reason[1:])}.</strong>"
    if finding.behaviour:  # no counts: each submission draws new cases, and would tell of more
        thing = "function" if exercise.kind == "host" else "kernel"
        yield f" The {thing} {escape(finding.behaviour)}."
    if finding.tried < finding.cases and finding.tried:
        yield f" Judging stopped at case {finding.tried} of {finding.cases}."
    yield "</p>"
    if finding.detail:
        yield f"<pre>{escape(finding.detail)}</pre>"
    if finding.counters:
        yield _table(finding.counters)
    if finding.advice and finding.reason != Reason.PASSED:
        yield f"<p><strong>Try:</strong> {escape(finding.advice)}</p>"
    if result.compiler:
        yield f"<p>Compiler: {escape(result.compiler)}.</p>"


def _table(counters: tuple[Counter, ...]) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Counter, worst case", "yours"))
    rows = ""
    for c in counters:
        head = f'<th scope="row">{escape(c.name.replace("_", " "))}</th>'
        verdict = " (over budget)" if c.over else ""
        rows += f"<tr>{head}<td>{against(c)}{verdict}</td></tr>"
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def write(folder: Path, results: Mapping[str, Any]) -> None:
    """Put the results where Gradescope looks: the whole file, or none."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / ".results.json"
    part.write_text(json.dumps(results, indent=1), "utf-8")
    os.replace(part, folder / "results.json")


if __name__ == "__main__":
    main()
