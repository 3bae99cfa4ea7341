"""Running processes, as tests look for them; one that ends meanwhile is passed over."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def carrying(mark: str) -> list[str]:
    """Return command lines of processes with a mark in their environment, whatever parent."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(
                    (folder / "cmdline")
                    .read_bytes()
                    .replace(b"\0", b" ")
                    .decode("utf-8", "replace")
                )
    return found
