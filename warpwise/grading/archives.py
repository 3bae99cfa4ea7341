"""Unpack a zip or a tar of submissions that may be malicious.

Only notebooks, archives and the platforms' own files are written, as plain files; of other files
only their folders, and near the top of a course's archive empty ones: a name may be all that
somebody handed in. Links and devices never are. A member that cannot be unpacked is named with its
reason, and the rest is unpacked. Archives in archives are left packed, for the caller to decide.

A student's archive is unpacked at once. Of a course's the names come first, since they say who has
room for the contents."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading.members import (
    OF_A_COURSE,
    OF_A_STUDENT,
    Broken,
    Member,
    NoRoom,
    Room,
    Unfit,
    members,
    printable,
    read,
)
from warpwise.grading.notebook import MOST_BYTES

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
METADATA, TIMESTAMP = "submission_metadata.yml", "timestamp.txt"
MOST_METADATA_BYTES, MOST_TIMESTAMP_BYTES = 256 << 20, 200
PASSED_OVER = re.compile(r"__MACOSX|\._.*|\.ipynb_checkpoints", re.S)  # what programs leave
DRIVE = re.compile(r"[A-Za-z]:[\\/]")
MOST_EMPTY_DEPTH = 6  # what is no notebook may be all that a student handed in
MOST_OTHERS = 20  # of a student's archive, to be named
MOST_NAME_BYTES, MOST_PATH_BYTES, MOST_DEPTH = 255, 1000, 20
TWO_MEMBERS = "the archive has two members of this name"


@dataclass(frozen=True)
class Refused:
    """A member that was not unpacked: its printable name in the archive, and why."""

    name: str
    why: str


def is_archive(name: str) -> bool:
    """True for the name of an archive that can be unpacked."""
    return name.lower().endswith(SUFFIXES)


def unpack(archive: Path, folder: Path, room: Room) -> tuple[tuple[Refused, ...], tuple[str, ...]]:
    """Unpack the notebooks of a student's archive into a new folder.

    Returns the members that cannot be unpacked, and the names of some files that are no notebooks.

    Raises Broken if it is no archive or breaks off; what was unpacked by then stays. Raises NoRoom,
    and leaves nothing behind, if it goes beyond its limits or cannot be written."""
    refused: list[Refused] = []
    others: list[str] = []
    try:
        with _named(archive):
            folder.mkdir(parents=True)
            for _, member in members(archive, OF_A_STUDENT, room):
                with _refusing(member, refused):
                    parts = _parts(member.name)
                    hidden = any(map(PASSED_OVER.fullmatch, parts)) or any(
                        part.startswith(".") for part in parts
                    )
                    if not parts or hidden or member.folder:
                        continue
                    if parts[-1].lower().endswith(".ipynb"):
                        _fill(member, _new_file(member, folder, parts, room), MOST_BYTES)
                    elif len(others) < MOST_OTHERS:
                        others.append("/".join(parts))
    except NoRoom:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NoRoom(_cannot(archive, f"it cannot be written ({error.strerror})")) from error
    return tuple(refused), tuple(others)


def unpack_names(archive: Path, folder: Path) -> tuple[dict[int, Path], list[Refused]]:
    """Unpack a course's archive into a new folder, but for the contents of notebooks and archives.

    Returns the files to be filled, by their members' numbers, and the members that are refused.
    Raises Broken if it is no archive or breaks off, and GradingError if the folder cannot be
    written."""
    files: dict[int, Path] = {}
    refused: list[Refused] = []
    room = Room.of_a_course()
    try:
        with _named(archive):
            folder.mkdir(parents=True)
            for number, member in members(archive, OF_A_COURSE, room):
                with _refusing(member, refused):
                    path = _place(member, folder, room)
                    if path and path.name == TIMESTAMP:
                        _fill(member, path, MOST_TIMESTAMP_BYTES)
                    elif path:
                        files[number] = path
        metadata = {n: path for n, path in files.items() if path.name == METADATA}
        refused += fill(archive, _topmost(metadata), lambda path: room, MOST_METADATA_BYTES)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        then = "; make room, or set TMPDIR to a folder on a larger disk" if full else ""
        raise GradingError(f"{folder} cannot be written: {error.strerror}{then}") from error
    return {n: path for n, path in files.items() if n not in metadata}, refused


def fill(
    archive: Path,
    files: Mapping[int, Path],
    room_of: Callable[[Path], Room],
    most: int = MOST_BYTES,
) -> list[Refused]:
    """Write the contents of files in a course's archive, as far as there is room for each.

    Files of refused members are removed. Raises Broken if the archive breaks off."""
    refused: list[Refused] = []
    with _named(archive):
        for number, member in members(archive, OF_A_COURSE, Room.of_a_course()) if files else ():
            if number in files:
                with _refusing(member, refused):
                    try:
                        _fill(member, files[number], most, room_of(files[number]))
                    except OSError as error:
                        raise Unfit(f"it cannot be written ({error.strerror})") from error
    return refused


def _topmost(files: Mapping[int, Path]) -> dict[int, Path]:
    """Return the one file above all others, if there is one: others are in students' folders."""
    top = min((len(path.parts) for path in files.values()), default=0)
    found = {n: path for n, path in files.items() if len(path.parts) == top}
    return found if len(found) == 1 else {}


@contextmanager
def _named(archive: Path) -> Iterator[None]:
    """Name the archive in errors."""
    try:
        yield
    except NoRoom as error:
        raise NoRoom(_cannot(archive, error)) from error
    except Broken as error:
        raise Broken(_cannot(archive, error)) from error


def _cannot(archive: Path, why: object) -> str:
    return f"the archive {printable(archive.name)} cannot be unpacked: {why}"


@contextmanager
def _refusing(member: Member, refused: list[Refused]) -> Iterator[None]:
    try:
        yield
    except Unfit as why:
        refused.append(Refused(printable(member.name)[:MOST_PATH_BYTES], str(why)))


def _place(member: Member, folder: Path, room: Room) -> Path | None:
    """Make a member's folders, and an empty file; return it if it needs a content. Raises Unfit."""
    parts = _parts(member.name)
    if not parts or any(map(PASSED_OVER.fullmatch, parts)):
        return None
    hidden = any(part.startswith(".") for part in parts)
    near_the_top = len(parts) <= MOST_EMPTY_DEPTH
    last = parts[-1].lower()
    wanted = last.endswith(".ipynb") or is_archive(last) or last in (METADATA, TIMESTAMP)
    needed = wanted and not (member.folder or hidden)
    if needed or (near_the_top and not member.folder):
        path = _new_file(member, folder, parts, room)
        return path if needed else None
    if not hidden:
        _make_folders(folder, (parts if member.folder else parts[:-1])[:MOST_EMPTY_DEPTH], room)
    return None


def _make_folders(folder: Path, parts: Sequence[str], room: Room) -> None:
    for part in parts:
        folder /= part
        try:
            folder.mkdir()
        except FileExistsError as error:
            if not folder.is_dir():
                raise Unfit(TWO_MEMBERS) from error
        else:
            room.make()


def _new_file(member: Member, folder: Path, parts: Sequence[str], room: Room) -> Path:
    """Make an empty file, and the folders above it. Raises Unfit."""
    if member.odd:
        raise Unfit(member.odd)
    room.make()
    path = folder.joinpath(*parts)
    _make_folders(folder, parts[:-1], room)
    try:
        path.touch(exist_ok=False)
    except FileExistsError as error:
        raise Unfit(TWO_MEMBERS) from error
    return path


def _fill(member: Member, path: Path, most: int, room: Room | None = None) -> None:
    """Write a file's content, or remove the file. Raises Unfit."""
    try:
        if room:
            room.make()
        content = read(member, most)
        if room:
            room.read(len(content))
        path.write_bytes(content)
    except NoRoom as error:
        path.unlink()
        raise error if room is None else Unfit(str(error)) from error
    except (Unfit, OSError):
        path.unlink()
        raise


def _parts(name: str) -> list[str]:
    """Split a member's name. Raises Unfit if it leads out of the archive or is too long."""
    parts = [printable(part) for part in re.split(r"[\\/]", name) if part not in ("", ".")]
    sizes = [len(part.encode()) for part in parts]
    if name.startswith(("/", "\\")) or DRIVE.match(name) or ".." in parts:
        raise Unfit("its name leads out of the archive")
    long = max(sizes, default=0) > MOST_NAME_BYTES or sum(sizes) > MOST_PATH_BYTES
    if long or len(parts) > MOST_DEPTH:
        raise Unfit("its name is too long")
    return parts
