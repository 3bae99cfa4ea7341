"""The wheels for Pyodide in the cache: from its releases, or from a package that bundles them."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from warpwise.book.parts.clients import pip
from warpwise.book.parts.listed import MissingPart, Releases, Sum, Wheel
from warpwise.book.parts.packages import Say
from warpwise.book.parts.store import cache, keep, scratch


def wheels(wanted: tuple[Wheel, ...], releases: Releases, say: Say) -> list[Path]:
    """Return the paths of wheels in the cache, whole; fetch those that are not there.

    Raises MissingPart if one cannot be had, or is not what the list says."""
    missing = [wheel for wheel in wanted if not _is_whole(wheel, _place(wheel))]
    unreleased = [wheel for wheel in missing if not _fetched(wheel, releases, say)]
    if unreleased:
        _unpack(unreleased, releases, say)
    return [_place(wheel) for wheel in wanted]


def _place(wheel: Wheel) -> Path:
    return cache() / wheel.name


def _is_whole(wheel: Wheel, path: Path) -> bool:
    return path.is_file() and Sum.of(path.read_bytes()) == wheel.sum


def _fetched(wheel: Wheel, releases: Releases, say: Say) -> bool:
    """Fetch a wheel from PyPI or the releases; return False if the latter cannot be reached."""
    say(f"fetching {wheel.name}, {wheel.sum.size / 1e6:.1f} MB")
    with scratch() as folder:
        try:
            wanted = wheel.pypi or f"{releases.address}/{wheel.name}"
            path = pip(folder, wanted, for_pyodide=not wheel.pypi)
        except MissingPart:
            if wheel.pypi:
                raise
            return False
        _keep(wheel, path)
    return True


def _unpack(wanted: list[Wheel], releases: Releases, say: Say) -> None:
    """Fetch the package that bundles wheels, and keep those that are wanted."""
    say(f"not from Pyodide's releases; fetching {releases.bundle}, {releases.bytes / 1e6:.1f} MB")
    with scratch() as folder, ZipFile(pip(folder, releases.bundle)) as bundle:
        for wheel in wanted:
            path = folder / wheel.name
            path.write_bytes(_member(bundle, f"{releases.folder}/{wheel.name}"))
            _keep(wheel, path)


def _member(bundle: ZipFile, name: str) -> bytes:
    try:
        return bundle.read(name)
    except KeyError as error:
        raise MissingPart(f"{bundle.filename} does not hold {name}") from error


def _keep(wheel: Wheel, path: Path) -> None:
    wheel.sum.check(wheel.name, Sum.of(path.read_bytes()))
    keep(path, _place(wheel), lambda place: _is_whole(wheel, place))
