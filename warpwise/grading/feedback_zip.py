"""Students' pages in one archive, named so that Canvas or Moodle gives each to its student.

Both take back what their download of submissions was: they look for numbers in the names.

Canvas ("Upload Submissions") takes the first two words between underscores that are numbers: the
user's, and that of an upload of this user to this assignment, or ``anon``, a code and the upload's.
It passes over a last word that begins with ``link``, and shows the file under the name of that
upload (``infer_comment_context_from_filename`` and ``generate_comments_from_files`` in
``app/models/abstract_assignment.rb`` of instructure/canvas-lms).

Moodle ("Upload multiple feedback files in a zip") takes the first four words of a folder's or a
file's name: anything, the participant's number, ``assignsubmission`` and the plugin. The rest is
the feedback's name (``is_valid_filename_for_import`` of moodle/moodle, in
``mod/assign/feedback/file/importziplib.php``).

So names are made anew around these numbers, and nothing else of a student's name or file decides
where a page goes."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import platforms, store
from warpwise.grading.platforms import CANVAS, MOODLE, MOODLE_NAME
from warpwise.grading.scoring import folder as graded
from warpwise.grading.scoring.scores import Score
from warpwise.grading.store import file_name

EARLIEST = (1980, 1, 1, 0, 0, 0)  # a zip's first moment, so that the same pages give the same bytes
NOT_NAMED = "not named as in a download from {}"
NO_UPLOAD = "no file was uploaded, and Canvas finds the student by the upload's number"
NO_NUMBER = "no participant's number in the name, by which Moodle finds the student"
OTHER_NUMBER = "the number in the name is not the student's on the roster; a group's submission?"
TWICE = "another page has the same number"
NO_PAGE = "the page is missing; grade again to write it"
AS_UPLOADED = (
    "Canvas shows each page under the name of the file that the student uploaded: tell students "
    "that it is a web page, to be saved as .html"
)


@dataclass(frozen=True)
class Place:
    """A page's name in the archive, and the number by which the platform finds the student."""

    name: str
    number: str


@dataclass(frozen=True)
class Packed:
    """The names in an archive, and the submissions whose page is not in it, with a reason."""

    names: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def pack(folder: str | Path, platform: str, out: Path, lab: str = "") -> Packed:
    """Write the archive of one lab's pages; ``platform`` is one of PLACES.

    ``lab`` can be left out where there is only one. Raises GradingError, and writes nothing, if
    there is no page to pack."""
    run = store.load(folder)
    made = graded.of_run(run)
    owners = {s.canvas_id: s for s in made.roster.students} if made.roster else {}
    students = {record.file: record.student for record in map(store.outline, run.records)}
    pages: dict[str, bytes] = {}
    left_out = []
    for score in _of_lab(made.scores, lab):
        try:
            place = _place(score, platform)
            if place.name in pages:
                raise GradingError(TWICE)
            if owners.get(place.number, score.student) != score.student:
                raise GradingError(OTHER_NUMBER)
            path = run.folder / "feedback" / f"{file_name(students[score.file])}.html"
            pages[place.name] = _content(path)
        except GradingError as error:
            left_out.append((score.file, str(error)))
    if not pages:
        example = "; for example {!r}: {}".format(*left_out[0]) if left_out else ""
        raise GradingError(f"no page can be packed for {platform.capitalize()}{example}")
    _write(out, _archive(pages))
    return Packed(tuple(pages), tuple(left_out))


def _of_lab(scores: Sequence[Score], lab: str) -> Iterator[Score]:
    """Yield what was handed in for one lab: of each student what counts, or what is of no lab.

    What is of no known lab is taken for this one only if there is no other."""
    labs = sorted({score.lab for score in scores if score.lab and score.file})
    if lab and lab not in labs:
        raise GradingError(f"nothing was handed in for {lab!r}; there are {', '.join(labs)}")
    if not lab and len(labs) > 1:
        raise GradingError(f"there are pages of {', '.join(labs)}: choose one with --lab")
    wanted = lab or next(iter(labs), "")
    there = {score.student for score in scores if score.lab == wanted and score.file}
    for score in scores:
        of_none = not score.lab and len(labs) < 2 and score.student not in there
        if score.file and (score.lab == wanted or of_none):
            yield score


def _place(score: Score, platform: str) -> Place:
    """Return where a page belongs. Raises GradingError if its student would not be found."""
    suffix = f"-{score.lab.replace('_', '-')}" if score.lab else ""
    place = PLACES[platform](score.file.partition("/")[0], f"feedback{suffix}.html")
    known = score.student.canvas_id
    if known and not score.student.unlisted and known != place.number:
        raise GradingError(OTHER_NUMBER)
    return place


def _canvas(entry: str, page: str) -> Place:
    named = platforms.canvas(entry)
    if named is None:
        raise GradingError(NOT_NAMED.format("Canvas"))
    if not named.file:
        raise GradingError(NO_UPLOAD)
    words = named.name.split("_")
    # a number or "anon" would be taken for what follows the name
    name = "student" if words[0] in ("", "anon") or any(map(str.isdecimal, words)) else named.name
    name = "" if named.student.startswith("anon_") else f"{name}_{'LATE_' if named.late else ''}"
    return Place(f"{name}{named.student}_{named.file}_{page}", named.student)


def _moodle(entry: str, page: str) -> Place:
    found = MOODLE_NAME.fullmatch(entry)
    if found is None:
        raise GradingError(NOT_NAMED.format("Moodle"))
    if not found["id"]:
        raise GradingError(NO_NUMBER)
    name = " ".join(re.sub(r"[^\w ,.'()-]|_", " ", found["name"]).split()).lstrip(" .")
    prefix = f"{name[:80] or 'Participant'}_{found['id']}_assignsubmission_{found['plugin']}"
    return Place(f"{prefix}{'_' if found['original'] else '/'}{page}", found["id"])


PLACES: dict[str, Callable[[str, str], Place]] = {CANVAS: _canvas, MOODLE: _moodle}


def _content(page: Path) -> bytes:
    try:
        return page.read_bytes()
    except OSError as error:
        raise GradingError(NO_PAGE) from error


def _archive(pages: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in pages.items():
            about = zipfile.ZipInfo(name, EARLIEST)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            archive.writestr(about, content)
    return packed.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all. Raises GradingError."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise GradingError(f"{path} cannot be written: {error.strerror}") from error
