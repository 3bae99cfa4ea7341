"""``parts.toml``: the version, size and SHA-256 of every part that is fetched.

``python -m warpwise.book.parts`` writes it anew from what npm's lock file names."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from warpwise.digests import digest, digest_of_files

HERE = Path(__file__).parent
LIST, PACKAGE, LOCK = HERE / "parts.toml", HERE / "package.json", HERE / "package-lock.json"


class MissingPart(Exception):
    """A part that cannot be had, or is not what ``parts.toml`` says; one line with the reason."""


@dataclass(frozen=True)
class Sum:
    """The size of a part, and its SHA-256 in hexadecimal."""

    size: int  #: in bytes
    sha256: str

    @classmethod
    def of(cls, content: bytes) -> Sum:
        return cls(len(content), digest(content))

    @classmethod
    def of_folder(cls, folder: Path) -> Sum:
        """Sum up all files below ``folder``, but for links and what npm notes for itself."""
        paths = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink() and ".bin" not in path.parts
        }
        sums = {name: cls.of(path.read_bytes()) for name, path in paths.items()}
        sums.pop(".package-lock.json", None)
        together = digest_of_files({name: one.sha256 for name, one in sums.items()})
        return cls(sum(one.size for one in sums.values()), together)

    def check(self, name: str, found: Sum) -> None:
        """Raise MissingPart unless ``found``, the sum of what is called ``name``, is this one."""
        if found != self:
            raise MissingPart(
                f"{name} has {found.size} bytes with SHA-256 {found.sha256}, "
                f"and not {self.size} with {self.sha256}"
            )


@dataclass(frozen=True)
class Part:
    """What is fetched: its name, and what it must be."""

    name: str
    sum: Sum


Kind = TypeVar("Kind", bound=Part)


@dataclass(frozen=True)
class File(Part):
    """A file of an npm package that is laid as it is: the package's name, a slash, and its path."""

    version: str


@dataclass(frozen=True)
class Library(Part):
    """An npm package that goes into the editor's script; the sum is that of its folder."""

    version: str


@dataclass(frozen=True)
class Wheel(Part):
    """A wheel for Pyodide: from its releases, or from PyPI if ``pypi`` is a requirement."""

    pypi: str = ""


@dataclass(frozen=True)
class Releases:
    """Where wheels are that Pyodide's lock file names: its releases, or a package on PyPI.

    ``bundle`` is that package as a requirement, ``bytes`` its size, ``folder`` where wheels are
    in it."""

    address: str
    bundle: str
    folder: str
    bytes: int


@dataclass(frozen=True)
class Listed:
    """All of ``parts.toml``.

    ``lite`` is what labs in the browser need besides; ``laid`` has the sums of folders of a site
    that come of it, by which others know them."""

    releases: Releases
    wheels: tuple[Wheel, ...]
    lite: tuple[Wheel, ...]
    laid: dict[str, str]
    files: tuple[File, ...]
    libraries: tuple[Library, ...]


def listed(path: Path = LIST) -> Listed:
    """Read the list."""
    data = tomllib.loads(path.read_text("utf-8"))
    return Listed(
        Releases(**data["pyodide"]),
        tuple(_part(Wheel, one) for one in data["wheel"]),
        tuple(_part(Wheel, one) for one in data["lite"]),
        data["laid"],
        tuple(_part(File, one) for one in data["file"]),
        tuple(_part(Library, one) for one in data["library"]),
    )


def _part(kind: type[Kind], entry: dict[str, Any]) -> Kind:
    total = Sum(entry.pop("bytes"), entry.pop("sha256"))
    return kind(sum=total, **entry)
