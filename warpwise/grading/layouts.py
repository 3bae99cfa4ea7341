"""Tell how a folder of submissions is laid out, and whose its entries are.

A layout is given, or guessed by what most names look like, and then said: students choose the names
in a plain folder, so one name, or a file that a platform would write, decides nothing. What is
nobody's under the layout stops the run before it begins. Only names are looked at here, and only
Gradescope's ``submission_metadata.yml`` is read."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import archives, platforms
from warpwise.grading.archives import METADATA
from warpwise.grading.platforms import CANVAS, GRADESCOPE, MOODLE, NBGRADER, PLAIN, Handed

#: The layouts, and what they are called.
LAYOUTS = {
    PLAIN: "a plain folder, with a notebook or a folder for each student",
    CANVAS: "Canvas's download",
    MOODLE: "Moodle's download",
    GRADESCOPE: "Gradescope's export",
    NBGRADER: "nbgrader's submitted/",
}
SUBMITTED = "submitted"
OF_NBGRADER = re.compile(
    r"submitted|source|release|autograded|feedback|downloaded|nbgrader_config\.py|header\.ipynb"
    r"|gradebook\.db.*|.*\.csv"
)
LITTER = re.compile(r"\._.*|Thumbs\.db|desktop\.ini|Icon\r|readme(\.(md|txt|rst))?", re.I | re.S)
CHECKPOINTS = ".ipynb_checkpoints"
ENDS_WITH_NUMBER = re.compile(r"(^|\s)\d+$")
MOST_NAMED, MOST_NOTEBOOKS, MOST_FOLDERS = 5, 100, 10_000
HIDDEN = "its name is that of a hidden file, which is not opened"
TWO_NAMES = "the files of number {} carry two names, of which Canvas gives a student one"


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    ``file`` is its path below the submissions folder, as text that can be written anywhere.
    ``name``, ``submitted`` (aware) and ``late`` come from the platform, and are empty where it says
    nothing. ``title`` is the notebook's name as the student gave it, ``attempt`` counts
    resubmissions under that name, and ``upload`` grows with each upload where a platform numbers
    them."""

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
    upload: int = 0
    instead: tuple[str, ...] | None = None  #: names of what was handed in without a notebook


@dataclass(frozen=True)
class Entry:
    """An entry of a folder of submissions: its name, and whether it is a folder, not a link."""

    name: str
    folder: bool


@dataclass(frozen=True)
class Layout:
    """A folder's layout, and its entries, without litter.

    ``handed`` is by folder; ``shared`` are names that several of Moodle's participants have, or
    numbers that Canvas would have given several names; ``beside`` are names next to nbgrader's
    ``submitted`` that hold work."""

    platform: str
    root: Path
    entries: tuple[Entry, ...]
    handed: dict[str, Handed] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    beside: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The layout and how many names are of its form, in one line."""
        total = len(self.entries) + len(self.beside)
        names = f"{total - len(self.unclaimed)} of {total} names"
        laid_out = f"laid out as {LAYOUTS[self.platform]} ({names})"
        return f"{laid_out}: give --layout to choose otherwise"

    @property
    def unclaimed(self) -> list[str]:
        """The names that are nobody's."""
        of_nobody = (e.name for e in self.entries if not any(submissions_of(self, e)))
        return [*of_nobody, *self.beside]


def layout_of(folder: Path, archive: str, wanted: str | None = None) -> Layout:
    """Find the layout of a folder, or of the one folder that it holds; or take the ``wanted`` one.

    ``archive`` is the stem of the archive that the folder was unpacked from: a folder packed whole
    lies in a folder of that name. Raises GradingError for a layout that there is not."""
    if wanted not in (None, *LAYOUTS):
        raise GradingError(f"there is no layout {wanted!r}; there are {', '.join(LAYOUTS)}")
    places, within = [folder], entries_of(folder)
    if len(within) == 1 and within[0].folder:
        inner = folder / within[0].name
        if archive and inner.name in (archive, "submissions"):
            return layout_of(inner, "", wanted)
        places.append(inner)
    for place in places:
        found = _fitting(place, entries_of(place), [wanted] if wanted else list(LAYOUTS))
        if found:
            return found
    return _laid_out(wanted or PLAIN, folder)


def check(layout: Layout, source: Path) -> None:
    """Raise GradingError, with their names, if entries are nobody's."""
    unclaimed = [text_of(name) for name in layout.unclaimed]
    if unclaimed:
        names = ", ".join(map(repr, unclaimed[:MOST_NAMED]))
        more = f" and {len(unclaimed) - MOST_NAMED} more" if len(unclaimed) > MOST_NAMED else ""
        others = ", ".join(name for name in LAYOUTS if name != layout.platform)
        raise GradingError(
            f"{source} is taken for {LAYOUTS[layout.platform]}, where {names}{more} "
            f"would be nobody's; move them elsewhere, or give another --layout: {others}"
        )


def _fitting(place: Path, entries: Sequence[Entry], layouts: Sequence[str]) -> Layout | None:
    """Return the first of these layouts that most of a folder's names are of."""
    return next((_laid_out(name, place) for name in layouts if _fits(name, place, entries)), None)


def _fits(platform: str, place: Path, entries: Sequence[Entry]) -> bool:
    names = [entry.name for entry in entries]
    folders = [entry.name for entry in entries if entry.folder]
    if platform == GRADESCOPE:
        numbered = sum(bool(platforms.GRADESCOPE_NAME.fullmatch(name)) for name in folders)
        return METADATA in names and numbered > (len(names) - 1) / 2
    if platform == MOODLE:
        return sum(platforms.moodle(name) is not None for name in names) > len(names) / 2
    if platform == CANVAS:
        return _is_canvas([name for name in names if is_work(name)])
    if platform == NBGRADER:
        of_a_course = SUBMITTED in folders and not _beside_submitted(place, entries)
        return of_a_course or (place.name == SUBMITTED and _is_submitted(place, entries))
    return False


def _laid_out(platform: str, root: Path) -> Layout:
    entries = entries_of(root)
    if platform == NBGRADER and Entry(SUBMITTED, True) in entries:
        within = root / SUBMITTED
        beside = _beside_submitted(root, entries)
        return Layout(platform, within, entries_of(within), beside=beside)
    if platform == GRADESCOPE:
        handed = {one.folder: one for one in platforms.gradescope(_metadata(root))}
        return Layout(platform, root, tuple(e for e in entries if e.name != METADATA), handed)
    shared: Counter[str] = Counter()
    names = [text_of(entry.name) for entry in entries]
    if platform == MOODLE:
        people = {(said.name, said.file) for said in map(platforms.moodle, names) if said}
        folded = Counter(_folded(name) for name, _ in people)
        shared = Counter({name: folded[_folded(name)] for name, _ in people})
    elif platform == CANVAS:
        people = {(said.student, said.name) for said in map(platforms.canvas, names) if said}
        shared = Counter(number for number, _ in people)
    return Layout(
        platform, root, entries, shared=frozenset(name for name, n in shared.items() if n > 1)
    )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _is_canvas(names: Sequence[str]) -> bool:
    """True if most names are Canvas's.

    ``lab_2026_1_alice.ipynb`` looks like one: but each upload has its own number, each user one
    name."""
    said = [named for named in map(platforms.canvas, names) if named]
    uploads = Counter(named.file for named in said)
    users = Counter(student for student, _ in {(named.student, named.name) for named in said})
    alone = [named for named in said if uploads[named.file] == users[named.student] == 1]
    return len(alone) > len(names) / 2


def _beside_submitted(place: Path, entries: Sequence[Entry]) -> tuple[str, ...]:
    """List what holds work and is no part of an nbgrader course."""
    others = (entry for entry in entries if not OF_NBGRADER.fullmatch(entry.name))
    return tuple(entry.name for entry in others if _holds_work(place, entry))


def _is_submitted(place: Path, entries: Sequence[Entry]) -> bool:
    """True if most entries are folders of folders: a student's, with one for each assignment."""
    folders = [place / entry.name for entry in entries if entry.folder]
    inside = (next(os.walk(folder), ("", [], [])) for folder in folders)
    return sum(all(map(is_hidden, files)) for _, _, files in inside) > len(entries) / 2


def submissions_of(layout: Layout, entry: Entry) -> Iterator[Submission]:
    """Read from an entry's name who submitted it: one submission per group member, none if nobody
    did."""
    text = text_of(entry.name)
    known = Submission(text, Path(), text, platform=layout.platform)
    if layout.platform == GRADESCOPE:
        handed = layout.handed.get(text)
        people = handed.submitters or ((text, ""),) if handed else ()
        for student, person in people:
            file = text if len(people) == 1 else f"{text} ({student})"
            mine = replace(known, student=student, file=file, name=person)
            yield replace(mine, submitted=handed.submitted if handed else None)
    elif layout.platform == CANVAS:
        if named := platforms.canvas(text):
            mine = replace(known, student=named.student, name=named.name, late=named.late)
            problem = TWO_NAMES.format(named.student) if named.student in layout.shared else ""
            mine = replace(mine, title=named.original, upload=int(named.file or 0))
            yield replace(mine, attempt=named.attempt, problem=problem)
    elif layout.platform == MOODLE:
        if named := platforms.moodle(text):
            # a name that ends with a number could be that of a namesake with the number
            alone = named.name not in layout.shared and not ENDS_WITH_NUMBER.search(named.name)
            student = named.student if alone else f"{named.name} {named.file or 0}"
            yield replace(known, student=student, name=named.name, title=named.original)
    elif layout.platform == PLAIN:
        stem = text if entry.folder else stem_of(text) if is_work(text) else Path(text).stem
        yield replace(known, student=stem, problem=HIDDEN if is_hidden(entry.name) else "")
    elif entry.folder:
        yield known


def _metadata(folder: Path) -> str:
    content = content_of(folder / METADATA, archives.MOST_METADATA_BYTES)
    if not content:
        raise GradingError(f"{folder / METADATA} is missing, empty, too large, or no regular file")
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


def entries_of(folder: Path) -> tuple[Entry, ...]:
    """List a folder's entries by name, without litter. Raises GradingError."""
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise GradingError(f"{folder} cannot be read: {error.strerror}") from error
    entries = (Entry(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)
    return tuple(entry for entry in entries if not _is_litter(folder, entry))


def _is_litter(folder: Path, entry: Entry) -> bool:
    """True for what systems and programs leave in a folder; never for what holds work."""
    if entry.name == CHECKPOINTS or (not entry.folder and LITTER.fullmatch(entry.name)):
        return True
    return is_hidden(entry.name) and not _holds_work(folder, entry)


def _holds_work(folder: Path, entry: Entry) -> bool:
    return bool(works(folder / entry.name)) if entry.folder else is_work(entry.name)


def works(folder: Path) -> list[Path]:
    """List the notebooks and archives below a folder, in order, up to too many.

    Links are not followed, and what is hidden is passed over."""
    found: list[Path] = []
    for number, (here, folders, files) in enumerate(os.walk(folder)):
        folders[:] = sorted(f for f in folders if not is_hidden(f))
        found += [Path(here) / f for f in sorted(files) if is_work(f) and not is_hidden(f)]
        if len(found) > MOST_NOTEBOOKS or number > MOST_FOLDERS:
            break
    return found


def files_below(folder: Path) -> list[str]:
    """List the names of the files below a folder, as text, up to too many; none that is hidden."""
    found: list[str] = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not is_hidden(f))
        names = [f for f in sorted(files) if not is_hidden(f)]
        found += [text_of((Path(here) / f).relative_to(folder).as_posix()) for f in names]
        if len(found) > MOST_NOTEBOOKS:
            break
    return found


def is_hidden(name: str) -> bool:
    return name.startswith(".") or archives.PASSED_OVER.fullmatch(name) is not None


def is_work(name: str) -> bool:
    return name.lower().endswith(".ipynb") or archives.is_archive(name)


def stem_of(name: str) -> str:
    """Return a file's name without the suffix of a notebook or an archive."""
    suffixes = sorted((".ipynb", *archives.SUFFIXES), key=len, reverse=True)
    found = (suffix for suffix in suffixes if name.lower().endswith(suffix))
    return name[: len(name) - len(next(found, ""))]


def text_of(name: str) -> str:
    """Return a file's name as text: bytes that are not UTF-8 are written out, as ``\\xff``.

    Backslashes are doubled, so that no two names have the same text."""
    return os.fsencode(name).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
