"""Find the submissions in a folder: one notebook a student (``alice.ipynb``), or one folder a student (``alice/08_coalescing.ipynb``).

Links are not followed, hidden files and checkpoints are passed over. A student's folder without a notebook is a submission too: one
with a problem.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import notebook

MOST_NOTEBOOKS = 100
UNTOLD = "which lab this is cannot be told from its name or its content; name the file after the lab, or grade with --lab"


@dataclass(frozen=True)
class Submission:
    """One notebook of one student. ``file`` is its path below the submissions folder, as text that can be written anywhere."""

    student: str
    path: Path
    file: str
    lab: str = ""
    problem: str = ""


def find(folder: Path) -> tuple[Submission, ...]:
    """Every submission, by student and file. Raises GradingError if there is no folder, or not one notebook in it."""
    if not folder.is_dir():
        raise GradingError(f"{folder} is not a folder" if folder.exists() else f"there is no folder {folder}")
    entries = sorted((e for e in os.scandir(folder) if not e.name.startswith(".")), key=lambda e: e.name)
    found = [submission for entry in entries for submission in _of_entry(entry)]
    if all(submission.problem for submission in found):
        raise GradingError(f"there is no notebook in {folder}")
    return tuple(found)


def recognised(
    submissions: Sequence[Submission], labs: Sequence[str], wanted: str | None, ids: dict[str, set[str]]
) -> tuple[Submission, ...]:
    """Submissions with their labs. ``labs`` are the stems there are, ``ids`` the exercises of each, ``wanted`` limits them to one.

    The name decides first, then what the notebook says of itself, then the exercises in it. A second notebook by one student for
    one lab gets a problem, unless its name is exactly the lab's: then the other does.
    """
    told = [_told(s, labs, wanted, ids) for s in submissions]
    told = [s for s in told if wanted is None or s.lab == wanted or s.problem]
    told.sort(key=lambda s: (s.student, s.lab, s.path.stem != s.lab, s.file))
    first: dict[tuple[str, str], Submission] = {}
    for s in told:
        if not s.problem:
            first.setdefault((s.student, s.lab), s)
    return tuple(_second(s, first.get((s.student, s.lab))) for s in told)


def _of_entry(entry: os.DirEntry) -> Iterator[Submission]:
    path, name = Path(entry.path), _text(entry.name)
    if entry.is_dir(follow_symlinks=False):
        yield from _of_folder(path, name)
    elif path.suffix.lower() == ".ipynb":
        yield Submission(_text(path.stem), path, name)
    elif entry.is_symlink() and entry.is_dir():
        yield Submission(name, path, name, problem="the folder is a link, which is not followed")


def _of_folder(folder: Path, student: str) -> Iterator[Submission]:
    paths = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        paths += [Path(here) / f for f in sorted(files) if f.lower().endswith(".ipynb") and not f.startswith(".")]
        if len(paths) > MOST_NOTEBOOKS:
            yield Submission(student, folder, student, problem=f"the folder holds more than {MOST_NOTEBOOKS} notebooks")
            return
    if not paths:
        yield Submission(student, folder, student, problem="there is no notebook in this folder")
    for path in paths:
        yield Submission(student, path, _text(path.relative_to(folder.parent).as_posix()))


def _told(submission: Submission, labs: Sequence[str], wanted: str | None, ids: dict[str, set[str]]) -> Submission:
    only = wanted or (labs[0] if len(labs) == 1 else "")
    if submission.problem:
        return replace(submission, lab=only)
    named = [stem for stem in labs if stem in submission.path.stem]
    if named or wanted:
        return replace(submission, lab=max(named, key=len) if named else wanted)
    try:
        content = notebook.read(submission.path)
    except GradingError as error:
        return replace(submission, problem=str(error), lab=only)
    claimed = {cell.exercise for cell in content.cells}
    fitting = [content.lab] if content.lab in labs else [stem for stem in labs if ids[stem] & claimed]
    lab = fitting[0] if len(fitting) == 1 else only
    return replace(submission, lab=lab, problem="" if lab else UNTOLD)


def _second(submission: Submission, graded: Submission | None) -> Submission:
    if submission.problem or graded is None or graded is submission:
        return submission
    return replace(submission, problem=f"a second notebook for this lab; {graded.file} was graded")


def _text(name: str) -> str:
    """A file's name as text: bytes that are not UTF-8 become replacement marks."""
    return os.fsencode(name).decode("utf-8", "replace")
