"""The labs as JupyterLab's file browser finds them: a folder, and a list of what is in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warpwise.labs import joined

# The list is the same in every build. JupyterLab is told not to show the time.
TIME = "2026-01-01T00:00:00Z"


def lay(out: Path, labs: Iterable[Path]) -> None:
    """Copy the notebooks into ``files``, and list them in ``api/contents/all.json``."""
    files, listed = out / "files", out / "api" / "contents" / "all.json"
    for folder in (files, listed.parent):
        folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for lab in labs:
        joined.copy(lab, files / lab.name)
        entries.append(_entry("notebook", lab.name))
    listed.write_text(json.dumps(_entry("directory", "") | {"content": entries}), "utf-8")


def _entry(kind: str, name: str) -> dict[str, Any]:
    """Return a file or folder as Jupyter's contents API describes it.

    A release puts its own copies of the labs into the folder, so that the size is not said."""
    return {
        "name": name,
        "path": name,
        "type": kind,
        "format": "json",
        "content": None,
        "mimetype": None,
        "size": None,
        "writable": True,
        "created": TIME,
        "last_modified": TIME,
    }
