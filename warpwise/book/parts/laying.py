"""Lay the parts into a built site, with a manifest of them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from warpwise.book.parts.listed import Listed, MissingPart, Part, Sum, listed
from warpwise.book.parts.packages import Say, bundle, packages
from warpwise.book.parts.slim import SOURCE, slim_wheel
from warpwise.book.parts.wheels import wheels

#: ``required``: a missing part is an error. ``off``: the book is built without editors.
VARIABLE = "WARPWISE_PARTS"
RUNTIME = "_static/runtime"  #: where the parts lie in a built site
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Laid:
    """A file of the runtime: its address from the manifest, size in bytes and SHA-256."""

    url: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The files of the runtime by name, a digest of them, ``version``, and one of their sources."""

    version: str
    sources: str
    files: dict[str, Laid]

    @classmethod
    def read(cls, runtime: Path) -> Manifest | None:
        """Return the manifest of a folder; None if it has none that can be read."""
        try:
            data = json.loads((runtime / MANIFEST).read_text("utf-8"))
            files = {name: Laid(**file) for name, file in data["files"].items()}
            return cls(data["version"], data["sources"], files)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    @classmethod
    def of(cls, site: str | Path) -> Manifest | None:
        """Return the manifest of a built site; None if pages run no Python there."""
        return cls.read(Path(site) / RUNTIME)

    def is_in(self, runtime: Path) -> bool:
        """Return whether its files are in a folder, by their sizes."""
        paths = [(runtime / file.url, file.bytes) for file in self.files.values()]
        return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def lay(site: Path, say: Say = print) -> Manifest | None:
    """Lay the parts into a site's ``_static/runtime`` unless they lie there already.

    ``say`` is told what is fetched. Returns None if parts are switched off; also if one cannot be
    had, but raises MissingPart if they are required."""
    wish = os.environ.get(VARIABLE, "")
    if wish not in ("", "required", "off"):
        raise MissingPart(f'{VARIABLE} is "{wish}"; it can be "required" or "off"')
    runtime = site / RUNTIME
    try:
        if wish != "off":
            return _lie(runtime) or _lay(runtime, say)
    except MissingPart as missing:
        if wish == "required":
            raise
        say(f"the book is built without editors: {missing}")
    shutil.rmtree(runtime, ignore_errors=True)
    return None


def _lie(runtime: Path) -> Manifest | None:
    manifest = Manifest.read(runtime)
    fits = manifest and manifest.sources == _sources() and manifest.is_in(runtime)
    return manifest if fits else None


def _sources() -> str:
    """Return the digest of all that the parts are made of: the package's files, lists included."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(SOURCE).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _lay(runtime: Path, say: Say) -> Manifest:
    """Write the files beside the folder, and let the new one take its place."""
    contents = gather(listed(), say)
    new = runtime.with_name(f"{runtime.name}-new")
    shutil.rmtree(new, ignore_errors=True)
    for name, content in contents.items():
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_bytes(content)
    manifest = _manifest(contents)
    (new / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1) + "\n", "utf-8")
    shutil.rmtree(runtime, ignore_errors=True)
    new.rename(runtime)
    return manifest


def gather(wanted: Listed, say: Say) -> dict[str, bytes]:
    """Return all files of the runtime by name. Raises MissingPart if one cannot be had."""
    modules = packages(wanted, say)
    contents = {file.name: (modules / file.name).read_bytes() for file in wanted.files}
    fetched = wheels(wanted.wheels, wanted.releases, say)
    contents |= {path.name: path.read_bytes() for path in fetched}
    parts: list[Part] = [*wanted.files, *wanted.wheels]
    for part in parts:
        part.sum.check(part.name, Sum.of(contents[part.name]))
    return contents | dict([slim_wheel()]) | {"editor.js": bundle(modules)}


def _manifest(contents: dict[str, bytes]) -> Manifest:
    files = {name: Laid(name, len(one), Sum.of(one).sha256) for name, one in contents.items()}
    lines = "".join(f"{file.sha256}  {name}\n" for name, file in sorted(files.items()))
    return Manifest(Sum.of(lines.encode()).sha256[:12], _sources(), files)
