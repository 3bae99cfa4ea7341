"""Unpack a zip or a tar of submissions that may be malicious.

Only notebooks, archives and the platforms' own files are written, as plain files; of other files
only their folders. Links and devices never are. Sizes that an archive declares are not believed:
reading stops at a limit. A member that cannot be unpacked is named with its reason, and the rest is
unpacked. Archives in archives are left packed, for the caller to decide."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import math
import os
import re
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from warpwise.errors import GradingError
from warpwise.grading.notebook import MOST_BYTES

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
OF_PLATFORMS = ("timestamp.txt", "submission_metadata.yml")
MOST_METADATA_BYTES = 256 << 20
PASSED_OVER = re.compile(r"__MACOSX|\._.*|\.ipynb_checkpoints", re.S)  # what programs leave
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
ZIP_MEMBER = b"PK\x01\x02"  # begins each entry of a zip's directory
UNPACKERS: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
DRIVE = re.compile(r"[A-Za-z]:[\\/]")
MOST_EMPTY_DEPTH = 3  # a folder without a notebook may be all that a student handed in
MOST_NAME_BYTES, MOST_PATH_BYTES, MOST_DEPTH = 255, 1000, 20
TOO_MANY = "it has more than {:,} members"
ALWAYS_BYTES = 4 * MOST_BYTES  # an archive may unpack to this much, however small it is
LINK = "it is a link, which is not followed"
IRREGULAR = "it is not a regular file"
TWO_MEMBERS = "the archive has two members of this name"


@dataclass(frozen=True)
class Limits:
    """Limits on an archive: its size, its ratio to the size unpacked, and its members."""

    archive_bytes: float
    ratio: float
    members: int
    file_bytes: int = MOST_BYTES


# An archive of a course may hold nothing but bombs, each a student's: there the limit is per file.
OF_A_COURSE = Limits(archive_bytes=math.inf, ratio=math.inf, members=500_000)
OF_A_STUDENT = Limits(archive_bytes=MOST_BYTES, ratio=100, members=5_000)


@dataclass
class Room:
    """The room that is left for what one student, or the course, has packed.

    All archives together share it: the bytes that are read from them, and the files and folders
    that are written."""

    bytes_left: int = 100 << 20
    files_left: int = 1_000

    def read(self, count: int) -> None:
        """Count bytes. Raises NoRoom."""
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise NoRoom("with the student's other archives it unpacks to too many bytes")

    def make(self) -> None:
        """Count a file or a folder. Raises NoRoom."""
        self.files_left -= 1
        if self.files_left < 0:
            raise NoRoom("with the student's other archives it unpacks to too many files")


def room_of_a_course() -> Room:
    return Room(bytes_left=64 << 30, files_left=2_000_000)


@dataclass(frozen=True)
class Refused:
    """A member that was not unpacked: its printable name in the archive, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class _Member:
    """A member as its archive has it.

    ``read`` returns at most so many of its bytes; ``odd`` is why it is not read at all."""

    name: str
    folder: bool
    odd: str
    read: Callable[[int], bytes]


class Broken(GradingError):
    """A file that is no archive, breaks off, or goes beyond its limits."""


class NoRoom(Broken):
    """An archive that unpacks to more than there is room for."""


class _Unfit(Exception):
    """A member that is not taken, with the reason."""


@dataclass
class _Limited:
    """Reads files, together no more than ``most`` bytes; then it raises Broken."""

    file: IO[bytes]
    most: float
    room: Room
    read_bytes: int = field(default=0, init=False)

    def read(self, size: int) -> bytes:
        content = self.file.read(size)
        self.read_bytes += len(content)
        if self.read_bytes > self.most:
            raise NoRoom(f"it unpacks to more than {self.most / (1 << 20):.0f} MB")
        self.room.read(len(content))
        return content


def is_archive(name: str) -> bool:
    """True for the name of an archive that can be unpacked."""
    return name.lower().endswith(SUFFIXES)


def unpack(
    archive: Path, folder: Path, limits: Limits = OF_A_COURSE, room: Room | None = None
) -> tuple[Refused, ...]:
    """Unpack an archive into a new folder, and return the members that could not be unpacked.

    Raises Broken if it is no archive or breaks off; what was unpacked by then stays. Raises NoRoom,
    and leaves nothing behind, if it goes beyond its limits, or if a student's cannot be written.
    Raises GradingError if a course's cannot be written."""
    refused: list[Refused] = []
    room = room or room_of_a_course()
    try:
        folder.mkdir(parents=True)
        with _opened(archive, limits) as file:
            for number, member in enumerate(_members(file, limits, room), 1):
                if number > limits.members:
                    raise NoRoom(TOO_MANY.format(limits.members))
                try:
                    _take(member, folder, limits, room)
                except _Unfit as why:
                    refused.append(Refused(printable(member.name)[:MOST_PATH_BYTES], str(why)))
    except NoRoom as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NoRoom(_cannot(archive, error)) from error
    except Broken as error:
        raise Broken(_cannot(archive, error)) from error
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if limits is OF_A_STUDENT:
            raise NoRoom(_cannot(archive, f"it cannot be written ({error.strerror})")) from error
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        then = "; make room, or set TMPDIR to a folder on a larger disk" if full else ""
        raise GradingError(f"{folder} cannot be written: {error.strerror}{then}") from error
    return tuple(refused)


def _cannot(archive: Path, why: object) -> str:
    return f"the archive {printable(archive.name)} cannot be unpacked: {why}"


def printable(name: str) -> str:
    """Return a name on one line, as text that can be written anywhere."""
    return UNPRINTABLE.sub("?", name)


@contextmanager
def _opened(archive: Path, limits: Limits) -> Iterator[IO[bytes]]:
    try:
        handle = os.open(archive, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise Broken(error.strerror or str(error)) from error
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise Broken("this is not a regular file")
        if about.st_size > limits.archive_bytes:
            raise Broken(f"it has more than {limits.archive_bytes / (1 << 20):.0f} MB")
        yield file


def _members(file: IO[bytes], limits: Limits, room: Room) -> Iterator[_Member]:
    """Yield all members in the archive's order, each to be read before the next."""
    start = file.read(6)
    file.seek(0)
    packed = os.fstat(file.fileno()).st_size
    limited = _Limited(file, max(ALWAYS_BYTES, limits.ratio * packed), room)
    is_zip = start[:4] in ZIP_STARTS
    try:
        yield from _of_zip(limited, limits) if is_zip else _of_tar(limited, start)
    except Broken:
        raise
    # the libraries that read archives raise errors of many kinds on broken ones
    except Exception as error:
        kind = "zip" if is_zip else "zip or tar"
        raise Broken(f"it is no {kind} archive, or a broken one ({_message(error)})") from error


def _of_zip(limited: _Limited, limits: Limits) -> Iterator[_Member]:
    file = limited.file
    # zipfile would first make a list of all
    if limits is OF_A_STUDENT and file.read().count(ZIP_MEMBER) > 2 * limits.members:
        raise NoRoom(TOO_MANY.format(limits.members))
    with zipfile.ZipFile(file) as opened:
        for info in opened.infolist():
            name, read = _decoded(info), partial(_read_zip, opened, info, limited)
            yield _Member(name, name.endswith(("/", "\\")), _odd_in_zip(info), read)


def _read_zip(
    opened: zipfile.ZipFile, info: zipfile.ZipInfo, limited: _Limited, size: int
) -> bytes:
    with opened.open(info) as file:
        limited.file = file
        return limited.read(size)


def _decoded(info: zipfile.ZipInfo) -> str:
    """Decode a member's name: macOS writes UTF-8 without its flag, which reads as code page 437."""
    if info.flag_bits & 0x800:
        return info.orig_filename
    try:
        return info.orig_filename.encode("cp437").decode()
    except UnicodeError:
        return info.orig_filename


def _odd_in_zip(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & 1:
        return "it is encrypted"
    if kind == stat.S_IFLNK:
        return LINK
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return IRREGULAR
    known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    return "" if known else "it is compressed in a way that is not read here"


def _of_tar(limited: _Limited, start: bytes) -> Iterator[_Member]:
    unpacker = next((opener for magic, opener in UNPACKERS if start.startswith(magic)), None)
    limited.file = unpacker(limited.file) if unpacker else limited.file
    content = cast(IO[bytes], limited)  # it reads only
    with tarfile.open(fileobj=content, mode="r|", errors="replace") as opened:
        for info in opened:
            opened.members.clear()  # type: ignore[attr-defined]  # it would keep them all
            read = partial(_read_tar, opened, info)
            yield _Member(info.name, info.isdir(), _odd_in_tar(info), read)


def _read_tar(opened: tarfile.TarFile, info: tarfile.TarInfo, size: int) -> bytes:
    file = opened.extractfile(info)
    return file.read(size) if file else b""


def _odd_in_tar(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return LINK
    return "" if (info.isfile() or info.isdir()) and not info.issparse() else IRREGULAR


def _take(member: _Member, folder: Path, limits: Limits, room: Room) -> None:
    """Make a member's folders and, if it is needed, its file. Raises _Unfit.

    Of other files near the top of a course's archive an empty one is made: a name may be all that
    somebody handed in."""
    parts = _parts(member.name)
    if not parts or any(map(PASSED_OVER.fullmatch, parts)):
        return
    of_a_course, hidden = limits is OF_A_COURSE, any(part.startswith(".") for part in parts)
    near_the_top = of_a_course and len(parts) <= MOST_EMPTY_DEPTH
    ours = of_a_course and parts[-1] in OF_PLATFORMS
    wanted = (".ipynb", *SUFFIXES) if of_a_course else (".ipynb",)
    needed = not (member.folder or hidden) and (ours or parts[-1].lower().endswith(wanted))
    if member.odd and (needed or near_the_top) and not member.folder:
        raise _Unfit(member.odd)
    content = _read(member, MOST_METADATA_BYTES if ours else limits.file_bytes) if needed else b""
    if needed or (near_the_top and not member.folder):
        _make_folders(folder, parts[:-1], room)
        _write(folder.joinpath(*parts), content, room)
    elif of_a_course and not hidden:
        _make_folders(folder, (parts if member.folder else parts[:-1])[:MOST_EMPTY_DEPTH], room)


def _make_folders(folder: Path, parts: Sequence[str], room: Room) -> None:
    for part in parts:
        folder /= part
        try:
            folder.mkdir()
        except FileExistsError as error:
            if not folder.is_dir():
                raise _Unfit(TWO_MEMBERS) from error
        else:
            room.make()


def _write(path: Path, content: bytes, room: Room) -> None:
    room.make()
    try:
        new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    except FileExistsError as error:
        raise _Unfit(TWO_MEMBERS) from error
    with open(new, "wb") as file:
        file.write(content)


def _read(member: _Member, most: int) -> bytes:
    try:
        content = member.read(most + 1)
    except Broken:
        raise
    # the libraries raise errors of many kinds on a broken member
    except Exception as error:
        raise _Unfit(f"it cannot be read from the archive ({_message(error)})") from error
    if len(content) > most:
        raise _Unfit(f"the file has more than {most >> 20} MB")
    return content


def _parts(name: str) -> list[str]:
    """Split a member's name. Raises _Unfit if it leads out of the archive or is too long."""
    parts = [printable(part) for part in re.split(r"[\\/]", name) if part not in ("", ".")]
    sizes = [len(part.encode()) for part in parts]
    if name.startswith(("/", "\\")) or DRIVE.match(name) or ".." in parts:
        raise _Unfit("its name leads out of the archive")
    long = max(sizes, default=0) > MOST_NAME_BYTES or sum(sizes) > MOST_PATH_BYTES
    if long or len(parts) > MOST_DEPTH:
        raise _Unfit("its name is too long")
    return parts


def _message(error: Exception) -> str:
    return " ".join(printable(str(error)).split())[:100] or type(error).__name__
