"""Tell by a platform's marks how a folder of submissions is laid out, and whose its entries are.

Only the folder's own entries are looked at here, and only Gradescope's ``submission_metadata.yml``
is read."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import archives, platforms
from warpwise.grading.platforms import CANVAS, GRADESCOPE, MOODLE, NBGRADER, PLAIN, Handed

METADATA, SUBMITTED = "submission_metadata.yml", "submitted"
NBGRADER_FILES = ("nbgrader_config.py", "gradebook.db", "source", "release")


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    ``file`` is its path below the submissions folder, as text that can be written anywhere.
    ``name``, ``submitted`` (aware) and ``late`` come from the platform, and are empty where it says
    nothing. ``title`` is the notebook's name as the student gave it, and ``attempt`` counts
    resubmissions under that name."""

    student: str
    path: Path
    file: str
    lab: str = ""
    problem: str = ""
    name: str = ""
    submitted: datetime | None = None
    late: bool = False
    platform: str = PLAIN
    title: str = ""
    attempt: int = 0


@dataclass(frozen=True)
class Layout:
    """A folder's layout.

    ``handed`` is by folder; ``shared`` are names that several of Moodle's participants have."""

    platform: str
    root: Path
    handed: dict[str, Handed] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()


def layout_of(folder: Path, archive: str) -> Layout:
    """Find a folder's layout by a platform's marks in it, or in the one folder that it holds.

    Without marks it is a plain folder. ``archive`` is the stem of the archive that the folder was
    unpacked from: a folder packed whole lies in a folder of that name."""
    found = _of_a_platform(folder)
    if found:
        return found
    entries = visible(folder)
    inner = [Path(e.path) for e in entries if e.is_dir(follow_symlinks=False)]
    if len(inner) == 1 and not any(is_work(e.name) for e in entries):
        if archive and inner[0].name in (archive, "submissions"):
            return layout_of(inner[0], "")
        found = _of_a_platform(inner[0])
    return found or Layout(PLAIN, folder)


def _of_a_platform(folder: Path) -> Layout | None:
    names = [entry.name for entry in visible(folder)]
    if METADATA in names:
        handed = platforms.gradescope(_metadata(folder))
        return Layout(GRADESCOPE, folder, {one.folder: one for one in handed})
    participants = [(said.name, said.file) for said in map(platforms.moodle, names) if said]
    if len(participants) > len(names) / 2:
        counts = Counter(name for name, _ in set(participants))
        shared = frozenset(name for name, count in counts.items() if count > 1)
        return Layout(MOODLE, folder, shared=shared)
    if _is_canvas([name for name in names if is_work(name)]):
        return Layout(CANVAS, folder)
    if folder.name == SUBMITTED:
        return Layout(NBGRADER, folder)
    of_nbgrader = names == [SUBMITTED] or any(name in names for name in NBGRADER_FILES)
    if of_nbgrader and (folder / SUBMITTED).is_dir():
        return Layout(NBGRADER, folder / SUBMITTED)
    return None


def _is_canvas(names: Sequence[str]) -> bool:
    """True if most names are Canvas's.

    ``lab_2026_1_alice.ipynb`` looks like one: but each upload has its own number, each user one
    name."""
    said = [named for named in map(platforms.canvas, names) if named]
    students = {named.student for named in said}
    own_numbers = len({named.file for named in said}) == len(said)
    one_name = len({(named.student, named.name) for named in said}) == len(students)
    return len(said) > len(names) / 2 and own_numbers and one_name


def submissions_of(layout: Layout, name: str, folder: bool) -> Iterator[Submission]:
    """Read from an entry's name who submitted it, yielding one submission per group member."""
    text = text_of(name)
    plain = Submission(text if folder else stem_of(text), Path(), text, platform=layout.platform)
    handed = layout.handed.get(text)
    if handed:
        people = handed.submitters or ((text, ""),)
        for student, person in people:
            file = text if len(people) == 1 else f"{text} ({student})"
            mine = replace(plain, student=student, file=file, name=person)
            yield replace(mine, submitted=handed.submitted)
        return
    read = {CANVAS: platforms.canvas, MOODLE: platforms.moodle}.get(layout.platform)
    named = read(text) if read else None
    if named is None:
        yield plain
    else:
        student = f"{named.student} {named.file}" if named.name in layout.shared else named.student
        mine = replace(plain, student=student, name=named.name, late=named.late)
        yield replace(mine, title=named.original, attempt=named.attempt)


def _metadata(folder: Path) -> str:
    content = content_of(folder / METADATA, archives.MOST_METADATA_BYTES)
    if not content:
        raise GradingError(f"{folder / METADATA} is empty, too large, or no regular file")
    return content.decode("utf-8", "replace")


def content_of(path: Path, most: int) -> bytes:
    """Return a regular file's bytes; none if it is missing, irregular, or larger than ``most``."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        return file.read(most) if stat.S_ISREG(about.st_mode) and about.st_size <= most else b""


def visible(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder's entries by name, without hidden ones. Raises GradingError."""
    try:
        shown = (entry for entry in os.scandir(folder) if not is_hidden(entry.name))
        return sorted(shown, key=lambda entry: entry.name)
    except OSError as error:
        raise GradingError(f"{folder} cannot be read: {error.strerror}") from error


def is_hidden(name: str) -> bool:
    return name.startswith(".") or name in archives.PASSED_OVER


def is_work(name: str) -> bool:
    return name.lower().endswith(".ipynb") or archives.is_archive(name)


def stem_of(name: str) -> str:
    """Return a file's name without the suffix of a notebook or an archive."""
    suffixes = sorted((".ipynb", *archives.SUFFIXES), key=len, reverse=True)
    found = (suffix for suffix in suffixes if name.lower().endswith(suffix))
    return name[: len(name) - len(next(found, ""))]


def text_of(name: str) -> str:
    """Return a file's name as text: bytes that are not UTF-8 are written out, as ``\\xff``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
