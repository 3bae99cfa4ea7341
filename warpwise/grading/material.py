"""What a lab is graded with, the trusted side: its source, hidden tests and reference notebook, and what tells versions of these apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import warpwise
from warpwise.errors import GradingError, LabError
from warpwise.grading import hidden, visible
from warpwise.labs.source import CHECKOUT, Lab, load_lab, role

PACKAGE = Path(warpwise.__file__).parent


@dataclass(frozen=True)
class Material:
    """What one lab is graded with, the same for all its submissions."""

    course: Path
    lab: Lab
    tests: ModuleType
    reference: dict
    given: tuple[str, ...]
    seed: int


def load(course: Path, stem: str, seed: int) -> Material:
    """Everything that one lab is graded with. Raises GradingError if a part is missing or an exercise has no hidden case."""
    lab = source(course, stem)
    tests = hidden.load(course, stem)
    for exercise in lab.exercises:
        hidden.cases(tests, exercise.id, seed)
    given = tuple(cell.source for cell in lab.cells if role(cell) == "given")
    return Material(course, lab, tests, visible.reference(course, stem), given, seed)


def source(course: Path, stem: str) -> Lab:
    """A lab of a course. Raises GradingError."""
    try:
        return load_lab(course / "solutions" / f"{stem}.md")
    except LabError as error:
        raise GradingError(str(error)) from error


def course_folder(course: str | Path | None, submissions: Path) -> Path:
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


def stems(course: Path, lab: str | None = None) -> list[str]:
    """The labs that can be graded: those with hidden tests; or the one that is asked for."""
    found = sorted(path.stem for path in (course / "tests" / "hidden").glob("[0-9]*.py"))
    if lab is not None and Path(lab).stem not in found:
        raise GradingError(f"there is no lab {Path(lab).stem!r} with hidden tests; there are {', '.join(found) or 'none'}")
    return [Path(lab).stem] if lab else found


def files(course: Path, stem: str) -> dict[str, str]:
    """The files of a course, by their paths in it, that one lab is graded with: to be sent to another machine."""
    names = (f"solutions/{stem}.md", f"tests/hidden/{stem}.py", f"labs/{stem}.ipynb")
    helpers = (path for path in (course / "tests" / "hidden").glob("*.py") if not path.name[0].isdigit())
    return {path.relative_to(course).as_posix(): path.read_text("utf-8") for path in [*(course / name for name in names), *helpers]}


def digest(course: Path, stem: str) -> str:
    """A number for a lab as it is graded: it changes with the lab, its hidden tests and its reference notebook."""
    return _digest(sorted(files(course, stem).items()))


@cache
def grader_version() -> str:
    """A number for this grader: it changes with any line of the package."""
    return _digest([(path.relative_to(PACKAGE).as_posix(), path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))])


def _digest(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]
