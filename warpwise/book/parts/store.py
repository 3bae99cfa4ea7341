"""The cache of fetched parts, in the user's cache folder: one download for all builds of a machine.

What is kept is checked when it is used, and fetched again if it is broken. Two builds may do so at
once: each writes under a name of its own, and what is whole is renamed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from platformdirs import user_cache_path

from warpwise.book.parts.listed import MissingPart


def cache() -> Path:
    """Return the folder of the cache; make it if need be. Raises MissingPart if it cannot be."""
    folder = user_cache_path("warpwise", appauthor=False) / "parts"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingPart(f"the cache cannot be made: {error}") from error
    return folder


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new folder in the cache, from where a rename keeps what was made."""
    folder = Path(tempfile.mkdtemp(prefix="new-", dir=cache()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def keep(made: Path, place: Path, is_whole: Callable[[Path], bool]) -> None:
    """Move what was made, a file or folder of ``scratch``, to its place.

    If another build was quicker, and left a whole one there, that stays."""
    if is_whole(place):
        return
    with suppress(FileNotFoundError):
        place.rename(made.with_name(f"broken-{place.name}"))
    try:
        made.rename(place)
    except OSError:
        if not is_whole(place):
            raise
