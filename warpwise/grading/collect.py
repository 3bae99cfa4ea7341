"""Find the submissions in a folder or an archive, with their students, labs and times.

How they lie there, and whose they are, is said by ``layouts``. Archives that students hand in are
opened too, within what one student may take on the disk.

A time is believed only where the collector wrote it: in the name or the metadata of a platform's
download, and for nbgrader in ``submitted/<student>/<assignment>/timestamp.txt``. A file in a folder
that a student handed in may be the student's own, so a plain folder has no times.

Links are not followed, and what is hidden is not opened. A student who handed in something without
a notebook has a submission too: one with a problem, which names what there is."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import archives, layouts, platforms
from warpwise.grading.archives import TIMESTAMP, Refused
from warpwise.grading.layouts import (
    MOST_NOTEBOOKS,
    Entry,
    Layout,
    Submission,
    content_of,
    files_below,
    is_hidden,
    is_work,
    layout_of,
    stem_of,
    submissions_of,
    text_of,
    works,
)
from warpwise.grading.members import Broken, Room, printable
from warpwise.grading.platforms import GRADESCOPE, NBGRADER

MOST_ARCHIVES = 10  # of one student
MOST_NAMED, MOST_NAME = 3, 80  # files, and characters of each
LISTED = "the export names it and does not hold it"
PACKED = "this is an archive, and there is no folder to unpack it into"


@dataclass(frozen=True)
class Found:
    """The submissions of a class, by student and file, and how they were laid out."""

    submissions: tuple[Submission, ...]
    layout: Layout


def find(source: Path, unpacked: Path | None = None, layout: str | None = None) -> Found:
    """Find every submission in a folder or an archive.

    ``layout`` is one of ``layouts.LAYOUTS``, or None for a guess. Archives are unpacked below
    ``unpacked``, each time anew. Raises GradingError if there is no such folder, the file is no
    archive, there is an entry that is nobody's, or there is not one notebook in it."""
    if unpacked is not None:
        for name in ("submissions", "students"):
            shutil.rmtree(unpacked / name, ignore_errors=True)
    rooms: defaultdict[str, Room] = defaultdict(Room)
    found: list[Submission] = []
    if source.is_dir():
        laid_out = layout_of(source, "", layout)
        layouts.check(laid_out, source)
    else:
        laid_out, found = _unpacked(source, unpacked, layout, rooms)
    for entry in laid_out.entries:
        path = laid_out.root / entry.name
        first, *others = (replace(s, path=path) for s in submissions_of(laid_out, entry))
        theirs = list(_opened(first, unpacked, rooms[first.student]))
        found += theirs
        for other in others:  # of a group
            found += (_shared(work, first, other) for work in theirs)
    if laid_out.platform == GRADESCOPE:
        found += _missing(laid_out)
    if all(submission.problem for submission in found):
        why = f": {found[0].file!r}, {found[0].problem}" if found else ""
        raise GradingError(f"there is no notebook in {source}{why}")
    ordered = sorted(_needed(found), key=lambda s: (s.student, s.file, s.problem))
    return Found(tuple(_numbered(ordered)), laid_out)


# Archives of a class.


def _unpacked(
    source: Path, unpacked: Path | None, wanted: str | None, rooms: Mapping[str, Room]
) -> tuple[Layout, list[Submission]]:
    """Unpack an archive, within each student's room; return its layout and what was refused."""
    if not source.exists():
        raise GradingError(f"there is no folder {source}")
    if source.suffix.lower() == ".ipynb":
        raise GradingError(f"{source} is not a folder; name the folder that holds it")
    if unpacked is None:
        raise GradingError(f"{source} is not a folder; if it is an archive, unpack it first")
    folder = unpacked / "submissions"
    files, refused = archives.unpack_names(source, folder)
    layout = layout_of(folder, stem_of(source.name), wanted)
    layouts.check(layout, source)
    whose = {e.name: next(submissions_of(layout, e)).student for e in layout.entries}

    def room_of(path: Path) -> Room:
        inside = path.is_relative_to(layout.root)
        return rooms[whose.get(path.relative_to(layout.root).parts[0], "") if inside else ""]

    refused += archives.fill(source, files, room_of)
    left = tuple(e for e in layout.entries if os.path.lexists(layout.root / e.name))
    return replace(layout, entries=left), list(_refused(refused, folder, layout))


def _refused(members: Iterable[Refused], folder: Path, layout: Layout) -> Iterator[Submission]:
    """Yield the notebooks and archives that were not unpacked, as submissions with a problem."""
    above = layout.root.relative_to(folder).parts if members else ()
    for member in members:
        parts = _parts(member)
        parts = parts[len(above) :] if tuple(parts[: len(above)]) == above else parts[-1:]
        at_the_top = len(parts) == 1 and not is_hidden(parts[0])
        if parts and (is_work(parts[-1]) or at_the_top):
            for one in submissions_of(layout, Entry(parts[0], folder=len(parts) > 1)):
                file = "/".join([one.file, *parts[1:]])
                found = replace(one, path=folder, file=file, title=parts[-1])
                yield replace(found, problem=member.why)


def _parts(member: Refused) -> list[str]:
    """Split a refused member's name, without the steps that would lead out."""
    return [part for part in re.split(r"[\\/]", member.name) if part not in ("", ".", "..")]


def _missing(layout: Layout) -> Iterator[Submission]:
    present = {text_of(entry.name) for entry in layout.entries}
    for name in layout.handed.keys() - present:
        for one in submissions_of(layout, Entry(name, folder=True)):
            yield replace(one, path=layout.root, problem=LISTED)


def _shared(work: Submission, first: Submission, other: Submission) -> Submission:
    """Return a notebook of a group's first member as that of another."""
    file = other.file + work.file.removeprefix(first.file)
    return replace(work, student=other.student, name=other.name, file=file)


# A student's entry: a notebook, a folder or an archive.


def _opened(entry: Submission, unpacked: Path | None, room: Room) -> Iterator[Submission]:
    """Yield the notebooks of one entry, or one submission with a problem."""
    name = entry.path.name.lower()
    if entry.problem:
        yield entry
    elif name.endswith(".ipynb") and not entry.path.is_dir():
        yield replace(entry, title=entry.title or entry.path.name)
    elif entry.path.is_symlink() and (entry.path.is_dir() or archives.is_archive(name)):
        kind = "folder" if entry.path.is_dir() else "archive"
        yield replace(entry, problem=f"the {kind} is a link, which is not followed")
    elif entry.path.is_dir():
        yield from _of_folder(entry, unpacked, room)
    elif archives.is_archive(name):
        yield from _of_archive(entry, unpacked, room)
    else:
        yield _without(entry, [entry.title or text_of(entry.path.name)])


def _of_folder(entry: Submission, unpacked: Path | None, room: Room) -> Iterator[Submission]:
    paths = works(entry.path)
    packed = sum(archives.is_archive(path.name) for path in paths)
    if packed > MOST_ARCHIVES or len(paths) > MOST_NOTEBOOKS:
        too_packed = packed > MOST_ARCHIVES
        many = f"{MOST_ARCHIVES} archives" if too_packed else f"{MOST_NOTEBOOKS} notebooks"
        yield replace(entry, problem=f"the folder holds more than {many}")
        return
    found: list[Submission] = []
    for path in paths:
        work = _below(entry, entry.path, path)
        if entry.platform == NBGRADER:
            work = replace(work, submitted=_collected(entry.path, path))
        found += _opened(work, unpacked, room)
    graded = [work for work in found if not work.problem]
    broken = [work for work in found if work.problem and archives.is_archive(work.title)]
    yield from (work for work in found if not graded or work not in broken)
    if entry.platform == NBGRADER:
        yield from _empty_assignments(entry, paths)
    elif not found:
        yield _without(entry, files_below(entry.path))


def _empty_assignments(student: Submission, works: Sequence[Path]) -> Iterator[Submission]:
    """Yield nbgrader's assignments in which a student handed in no notebook, or the student."""
    used = {work.relative_to(student.path).parts[0] for work in works}
    folders = [e.name for e in layouts.entries_of(student.path) if e.folder and e.name not in used]
    for name in folders:
        assignment = replace(student, file=f"{student.file}/{text_of(name)}")
        submitted = _collected(student.path, student.path / name / TIMESTAMP)
        names = [file for file in files_below(student.path / name) if file != TIMESTAMP]
        yield _without(replace(assignment, submitted=submitted), names)
    if not works and not folders:
        yield _without(student, files_below(student.path))


def _of_archive(entry: Submission, unpacked: Path | None, room: Room) -> Iterator[Submission]:
    """Yield the notebooks of an archive that a student handed in.

    Archives in it stay closed, and times in it are not believed."""
    if unpacked is None:
        yield replace(entry, title=entry.path.name, problem=PACKED)
        return
    folder = unpacked / "students" / hashlib.sha256(os.fsencode(entry.path)).hexdigest()[:20]
    refused: Sequence[Refused] = ()
    others: Sequence[str] = ()
    problem = ""
    try:
        refused, others = archives.unpack(entry.path, folder, room)
    except Broken as error:
        problem = str(error)
    paths = works(folder)
    if len(paths) > MOST_NOTEBOOKS:
        paths, refused, problem = [], (), f"the archive holds more than {MOST_NOTEBOOKS} notebooks"
    for path in paths:
        yield _below(entry, folder, path)
    unread = [member for member in refused if member.name.lower().endswith(".ipynb")]
    for member in unread[:MOST_NOTEBOOKS]:
        parts = _parts(member)
        found = replace(entry, file="/".join([entry.file, *parts]), title=parts[-1])
        yield replace(found, problem=member.why)
    if not paths and not unread:
        packed = replace(entry, title=entry.title or text_of(entry.path.name))
        inside = [f"{packed.title}: {name}" for name in others]
        yield replace(packed, problem=problem) if problem else _without(packed, inside)


def _below(entry: Submission, folder: Path, path: Path) -> Submission:
    file = f"{entry.file}/{text_of(path.relative_to(folder).as_posix())}"
    return replace(entry, path=path, file=file, title=text_of(path.name))


def _without(entry: Submission, names: Sequence[str]) -> Submission:
    """Return the submission of somebody who handed in these files, and no notebook."""
    return replace(entry, instead=tuple(names), problem=_instead(names))


def _instead(names: Sequence[str]) -> str:
    if not names:
        return "handed in nothing: an empty folder or archive"
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    first = ", ".join(printable(name)[:MOST_NAME] for name in names[:MOST_NAMED])
    return f"handed in {first}{more}, no notebook"


def _needed(found: Sequence[Submission]) -> list[Submission]:
    """Drop what is no notebook where the student handed in one too; else name it in one line.

    Each of nbgrader's assignments stands for itself."""
    kept = [s for s in found if s.instead is None]
    others = {_apart(s) for s in kept}
    without: defaultdict[tuple[str, str], list[Submission]] = defaultdict(list)
    for submission in found:
        if submission.instead is not None and _apart(submission) not in others:
            without[_apart(submission)].append(submission)
    for theirs in without.values():
        names = [name for s in theirs for name in s.instead or ()]
        kept.append(_without(theirs[0], names))
    return kept


def _apart(submission: Submission) -> tuple[str, str]:
    """Return the student and, for nbgrader, the assignment."""
    of_nbgrader = submission.platform == NBGRADER
    return submission.student, "/".join(submission.file.split("/")[1:2]) if of_nbgrader else ""


def _numbered(found: Iterable[Submission]) -> Iterator[Submission]:
    """Number submissions that have the same ``file``."""
    taken: set[str] = set()
    for submission in found:
        file, count = submission.file, 1
        while file in taken:
            count += 1
            file = f"{submission.file} ({count})"
        taken.add(file)
        yield replace(submission, file=file)


def _collected(student: Path, work: Path) -> datetime | None:
    """Read the time that nbgrader wrote for an assignment; None for work that is in none."""
    assignment, *rest = work.relative_to(student).parts
    if not rest:
        return None
    said = content_of(student / assignment / TIMESTAMP, archives.MOST_TIMESTAMP_BYTES)
    return platforms.moment(said.decode("utf-8", "replace"))
