"""Read the members of a zip or a tar that may be malicious.

Sizes that an archive declares are not believed: reading stops at a limit, which all archives of one
student share. Nothing is written here."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import os
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from warpwise.errors import GradingError
from warpwise.grading.notebook import MOST_BYTES

ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
ZIP_MEMBER = b"PK\x01\x02"  # begins each entry of a zip's directory
UNPACKERS: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
TOO_MANY = "it has more than {:,} members"
ALWAYS_BYTES = 4 * MOST_BYTES  # an archive may unpack to this much, however small it is
STUDENTS_MB, MOST_STUDENT_FILES = 100, 1_000
LINK = "it is a link, which is not followed"
IRREGULAR = "it is not a regular file"


@dataclass(frozen=True)
class Limits:
    """Limits on an archive: its size, its ratio to the size unpacked, and its members."""

    archive_bytes: float
    ratio: float
    members: int


# An archive of a course may hold nothing but bombs: there the limits are those of each student.
OF_A_COURSE = Limits(archive_bytes=math.inf, ratio=math.inf, members=500_000)
OF_A_STUDENT = Limits(archive_bytes=MOST_BYTES, ratio=100, members=5_000)


@dataclass
class Room:
    """The room that is left for the files of one student, or of the course.

    All archives share it: the bytes that are read from them, and the files and folders made."""

    bytes_left: int = STUDENTS_MB << 20
    files_left: int = MOST_STUDENT_FILES

    @staticmethod
    def of_a_course() -> Room:
        return Room(bytes_left=64 << 30, files_left=2_000_000)

    def read(self, count: int) -> None:
        """Count bytes. Raises NoRoom."""
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise NoRoom(f"with the student's other files it takes more than {STUDENTS_MB} MB")

    def make(self) -> None:
        """Count a file or a folder. Raises NoRoom, as if no byte is left."""
        self.files_left -= 1
        if self.files_left < 0:
            more = f"it makes more than {MOST_STUDENT_FILES:,} files and folders"
            raise NoRoom(f"with the student's other files {more}")
        self.read(0)


@dataclass(frozen=True)
class Member:
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


class Unfit(Exception):
    """A member that is not unpacked, with the reason."""


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


def members(archive: Path, limits: Limits, room: Room) -> Iterator[tuple[int, Member]]:
    """Yield all members, numbered, in the archive's order, each to be read before the next.

    Raises Broken if it is no archive or breaks off, and NoRoom beyond its limits."""
    with _opened(archive, limits) as file:
        for number, member in enumerate(_members(file, limits, room), 1):
            if number > limits.members:
                raise NoRoom(TOO_MANY.format(limits.members))
            yield number, member


def read(member: Member, most: int) -> bytes:
    """Return a member's bytes. Raises Unfit if they are more than ``most`` or cannot be read."""
    try:
        content = member.read(most + 1)
    except Broken:
        raise
    # the libraries raise errors of many kinds on a broken member
    except Exception as error:
        raise Unfit(f"it cannot be read from the archive ({_message(error)})") from error
    if len(content) > most:
        raise Unfit(f"the file has more than {most >> 20} MB")
    return content


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


def _members(file: IO[bytes], limits: Limits, room: Room) -> Iterator[Member]:
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


def _of_zip(limited: _Limited, limits: Limits) -> Iterator[Member]:
    file = limited.file
    # zipfile would first make a list of all
    if limits is OF_A_STUDENT and file.read().count(ZIP_MEMBER) > 2 * limits.members:
        raise NoRoom(TOO_MANY.format(limits.members))
    with zipfile.ZipFile(file) as opened:
        for info in opened.infolist():
            name, read = _decoded(info), partial(_read_zip, opened, info, limited)
            yield Member(name, name.endswith(("/", "\\")), _odd_in_zip(info), read)


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


def _of_tar(limited: _Limited, start: bytes) -> Iterator[Member]:
    unpacker = next((opener for magic, opener in UNPACKERS if start.startswith(magic)), None)
    limited.file = unpacker(limited.file) if unpacker else limited.file
    content = cast(IO[bytes], limited)  # it reads only
    with tarfile.open(fileobj=content, mode="r|", errors="replace") as opened:
        for info in opened:
            opened.members.clear()  # type: ignore[attr-defined]  # it would keep them all
            read = partial(_read_tar, opened, info)
            yield Member(info.name, info.isdir(), _odd_in_tar(info), read)


def _read_tar(opened: tarfile.TarFile, info: tarfile.TarInfo, size: int) -> bytes:
    file = opened.extractfile(info)
    return file.read(size) if file else b""


def _odd_in_tar(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return LINK
    return "" if (info.isfile() or info.isdir()) and not info.issparse() else IRREGULAR


def _message(error: Exception) -> str:
    return " ".join(printable(str(error)).split())[:100] or type(error).__name__
