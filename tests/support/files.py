"""Folders made of a few small files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def made(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a folder with these files; a name that ends with / is an empty folder."""
    for name, content in files.items():
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
