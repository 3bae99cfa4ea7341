"""A lab's trusted files for grading: its source, hidden tests and reference notebook.

Digests of these, and of the grader itself, tell versions apart."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import warpwise
from warpwise.errors import GradingError, LabError
from warpwise.grading import hidden, visible
from warpwise.grading.older import Today
from warpwise.labs import versions
from warpwise.labs.chosen import chosen
from warpwise.labs.compiler_budget import has_budget
from warpwise.labs.source import CHECKOUT, Lab, load_lab, role

PACKAGE = Path(warpwise.__file__).parent
WITHOUT_TESTS = "there is no lab {} with hidden tests"


@dataclass(frozen=True)
class Material:
    """Everything that one lab is graded with, the same for all its submissions."""

    course: Path
    lab: Lab
    tests: ModuleType
    reference: dict[str, Any]  #: a notebook
    given: tuple[str, ...]
    seed: int
    today: Today  #: as what notebooks of older versions are graded
    compiled: bool = False  #: whether an exercise has a budget for the compiler


def load(course: Path, stem: str, seed: int) -> Material:
    """Load a lab's material. Raises GradingError if a part, or an exercise's case, is missing."""
    lab = source(course, stem)
    tests = hidden.load(course, stem)
    drawn = (hidden.cases(tests, exercise.id, seed) for exercise in lab.exercises)
    compiled = any([has_budget(cases) for cases in drawn])  # all of them are drawn
    given = tuple(cell.source for cell in lab.cells if role(cell) == "given")
    reference = visible.reference(course, stem)
    return Material(course, lab, tests, reference, given, seed, today(lab), compiled)


def today(lab: Lab) -> Today:
    """Return what a lab's older versions are compared with."""
    return Today(lab.stem, lab.title, lab.version, versions.digests(lab))


def source(course: Path, stem: str) -> Lab:
    """Read a lab of a course. Raises GradingError."""
    try:
        return load_lab(course / "solutions" / f"{stem}.md")
    except LabError as error:
        raise GradingError(str(error)) from error


def course_folder(course: str | Path | None, submissions: Path) -> Path:
    """Find the folder with hidden tests: the one given, else this package's checkout, else ".".

    Its code is imported, so it must not lie among the submissions."""
    choices = [Path(course)] if course else [CHECKOUT, Path.cwd()]
    for root in (choice.resolve() for choice in choices):
        if (root / hidden.FOLDER).is_dir():
            if submissions.resolve() in (root, *root.parents):
                raise GradingError(f"the course folder {root} lies inside the submissions folder")
            return root
    raise GradingError(f"no hidden tests: there is no folder {choices[-1] / hidden.FOLDER}")


def stems(course: Path, lab: str | None = None) -> list[str]:
    """List the labs that can be graded: those with hidden tests; or the one that is asked for.

    That may be named as ``chosen`` takes it. Raises GradingError."""
    found = sorted(path.parent.name for path in (course / hidden.FOLDER).glob("[0-9]*/hidden.py"))
    return list(meant(found, [] if lab is None else [lab], WITHOUT_TESTS))


def meant(stems: Sequence[str], wanted: Collection[str], missing: str) -> tuple[str, ...]:
    """Return the labs that are meant, as ``chosen`` does. Raises GradingError."""
    try:
        return chosen(stems, wanted, missing)
    except LabError as error:
        raise GradingError(str(error)) from error


def files(course: Path, stem: str) -> dict[str, str]:
    """Read the files that one lab is graded with, by their paths in the course.

    They can be sent to another machine."""
    folder = course / hidden.FOLDER / stem
    paths = [course / f"solutions/{stem}.md", folder / "hidden.py", course / f"labs/{stem}.ipynb"]
    beside = (path for path in folder.glob("*.py") if not path.name.startswith("test_"))
    paths += [path for path in beside if path.name != "hidden.py"]  # which the tests import
    return {path.relative_to(course).as_posix(): path.read_text("utf-8") for path in paths}


def digests(course: Path, stem: str) -> dict[str, str]:
    """Return a digest of a lab's hidden tests, and one of its source and reference notebook."""
    found = sorted(files(course, stem).items())
    tests = [(name, text) for name, text in found if name.startswith(hidden.FOLDER.as_posix())]
    return {"tests": _digest(tests), "lab": _digest([one for one in found if one not in tests])}


@cache
def grader_version() -> str:
    """Return a digest of this grader: it changes with any line of the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return _digest([(p.relative_to(PACKAGE).as_posix(), p.read_text("utf-8")) for p in paths])


def _digest(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]
