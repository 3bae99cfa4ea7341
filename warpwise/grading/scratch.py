"""Temporary folders of a run, which may hold hidden tests and submissions.

A run that is killed cannot remove its own. So each is locked by the process that uses it, the lock
ends with that process, and whoever makes the next folder first removes all that nobody holds."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "warpwise-run-"


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for the block, after sweeping up what runs that were killed have left."""
    sweep()
    made, lock = _locked()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def sweep() -> None:
    """Remove this user's folders of runs that have ended."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.geteuid() and _lock(lock):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _locked() -> tuple[Path, int]:
    """Make a folder and lock it; once more if a sweep came between the two."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = os.open(made, os.O_RDONLY)
        if _lock(lock) and made.exists():
            return made, lock
        os.close(lock)


def _lock(file: int) -> bool:
    from fcntl import LOCK_EX, LOCK_NB, flock

    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True
