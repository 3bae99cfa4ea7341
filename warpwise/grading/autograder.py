"""What runs on Gradescope: one submission in, ``results.json`` out. ``gradescope`` packs what it needs.

    python -I -m warpwise.grading.autograder /autograder

Points come as they do from ``warpwise grade``: kernels are interpreted, host functions run as a user who can read nothing of the
grader's (``container``). The notebook's own checks are not run again here. Whatever happens, a results file says so.
Nothing is imported that would need more than NumPy, so that little has to be installed there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from warpwise.errors import GradingError
from warpwise.grading import container, hidden, notebook, sandbox, simulate
from warpwise.grading.functions import judge_function
from warpwise.grading.record import NOT_GRADED, UNTOUCHED, Counter, Finding, Record, Result, missing
from warpwise.labs.exercise import Reason, bound
from warpwise.labs.judge import figure

MEMORY_BYTES = 512 << 20  #: of one part; the container has 768 MB, of which the grader itself takes 100
FAILED = "The grader itself failed, so nothing was graded. This is not your fault: tell your instructor, who can run it again."


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
    """What one lab is graded with, as ``gradescope`` has packed it."""

    folder: Path
    stem: str
    title: str
    version: str
    seed: int
    given: tuple[str, ...]
    exercises: tuple[Exercise, ...]


def main() -> None:
    root, start = Path(sys.argv[1]), time.monotonic()
    try:
        results = graded(root)
    except Exception as error:  # whatever it is, the student's page must say it
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        results = {"score": 0, "output": FAILED, "output_format": "text"}
    write(root / "results", results | {"execution_time": round(time.monotonic() - start), "stdout_visibility": "hidden"})


def graded(root: Path) -> dict[str, Any]:
    """The results of the submission below ``root``. Raises GradingError if this machine cannot grade."""
    lab = packed(root / "source")
    container.check(root / "source")
    for path in (root / "results", root / "submission_metadata.json"):
        if path.exists():
            os.chmod(path, 0o700 if path.is_dir() else 0o600)
    record = Record("", "", lab.stem)
    try:
        submitted = notebook.read(found(root / "submission", lab.stem))
        record = replace(record, results=tuple(judged(lab, submitted)))
    except GradingError as error:
        ungraded = (Result(e.id, e.points, Finding(False, NOT_GRADED), choice=e.choice) for e in lab.exercises)
        record = replace(record, problem=str(error), results=tuple(ungraded))
    return report(lab, record)


def packed(folder: Path) -> Packed:
    """What ``bundle`` wrote. Raises GradingError if it is damaged."""
    try:
        fields = json.loads((folder / "lab.json").read_text("utf-8"))
        exercises = tuple(Exercise(**exercise) for exercise in fields.pop("exercises"))
        return Packed(folder, **fields | {"given": tuple(fields["given"]), "exercises": exercises})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise GradingError(f"{folder / 'lab.json'} is damaged ({error}): pack the lab again") from error


def found(folder: Path, stem: str) -> Path:
    """The notebook to grade: the one that is named after the lab, else the only one. Raises GradingError, which the student reads."""
    names = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__MACOSX")))
        names += [Path(here, f) for f in sorted(files) if f.lower().endswith(".ipynb") and not f.startswith(".")]
    if not names:
        raise GradingError(f"there is no notebook in this submission; hand in {stem}.ipynb")
    named = [path for path in names if path.stem == stem] or [path for path in names if stem in path.stem] or names
    if len(named) > 1:
        raise GradingError(f"there are {len(named)} notebooks in this submission; hand in one, called {stem}.ipynb")
    return named[0]


def judged(lab: Packed, submitted: notebook.Notebook) -> Iterator[Result]:
    """The result of each exercise."""
    answers = notebook.answers(submitted, lab.exercises)
    limits = replace(simulate.LIMITS, memory_bytes=MEMORY_BYTES)
    begun = [answer for answer in answers.values() if answer]
    said = simulate.simulate(lab.folder, lab.stem, lab.seed, begun, lab.given, limits=limits) if begun else {}
    tests = hidden.load(lab.folder, lab.stem)
    for exercise in lab.exercises:
        finding = _found(lab, tests, exercise, said[exercise.id]) if exercise.id in said else missing(exercise.name)
        yield Result(exercise.id, exercise.points, finding, choice=exercise.choice)


def _found(lab: Packed, tests: ModuleType, exercise: Exercise, said: simulate.Simulated) -> Finding:
    if said.finding is not None:
        return said.finding
    return judge_function(said.text, exercise.name, hidden.cases(tests, exercise.id, lab.seed), sandbox.CONTAINER)


def report(lab: Packed, record: Record) -> dict[str, Any]:
    """The results as Gradescope reads them. No test is hidden, since that would hide the total too; what is secret is in none."""
    exercises = {exercise.id: exercise for exercise in lab.exercises}
    told = f"<p>{escape(lab.title)}, version {escape(lab.version)}.</p>"
    if record.problem:
        told = f"<p><strong>This could not be graded:</strong> {escape(record.problem)}.</p>{told}"
    return {
        "score": record.points,
        "output": told,
        "output_format": "html",
        "visibility": "visible",
        "tests": [_test(exercises[result.exercise], result, result in record.counted) for result in record.results],
        "extra_data": {"lab": lab.stem, "version": lab.version},
    }


def _test(exercise: Exercise, result: Result, counts: bool) -> dict[str, Any]:
    shown = {"name": exercise.title or exercise.id, "name_format": "text", "output_format": "html", "visibility": "visible"}
    if not counts:
        untouched = result.finding.reason in UNTOUCHED
        told = "Not chosen." if untouched else "This does not count: another exercise of the choice does."
        return shown | {"output": f"<p>{told}</p>" + ("" if untouched else "".join(explained(exercise, result.finding)))}
    passed = "passed" if result.points else "failed"
    points = {"score": result.points, "max_score": result.possible, "status": passed}
    return shown | points | {"output": "".join(explained(exercise, result.finding))}


def explained(exercise: Exercise, finding: Finding) -> Iterator[str]:
    """What a student reads of one exercise: what was asked, what happened, the counters against their budgets, what to try."""
    if exercise.objective:
        yield f"<p>{escape(exercise.objective)}</p>"
    reason = finding.reason.replace("_", " ")
    yield f"<p><strong>{escape(reason[:1].upper() + reason[1:])}.</strong>"
    if finding.behaviour:
        thing = "function" if exercise.kind == "host" else "kernel"
        yield f" The {thing} {escape(finding.behaviour)}."
    yield "</p>"
    if finding.detail:
        yield f"<pre>{escape(finding.detail)}</pre>"
    if finding.counters:
        yield _table(finding.counters)
    if finding.advice and finding.reason != Reason.PASSED:
        yield f"<p><strong>Try:</strong> {escape(finding.advice)}</p>"


def _table(counters: tuple[Counter, ...]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(c.name.replace("_", " "))}</th><td>{figure(c.value)}</td><td>{bound(c.name)} {figure(c.limit)}</td>'
        f"<td>{'over budget' if c.over else 'within budget'}</td></tr>"
        for c in counters
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Counter, worst case", "yours", "budget", "verdict"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def write(folder: Path, results: Mapping[str, Any]) -> None:
    """Put the results where Gradescope looks, whole."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / ".results.json"
    part.write_text(json.dumps(results, indent=1), "utf-8")
    os.replace(part, folder / "results.json")


if __name__ == "__main__":
    main()
