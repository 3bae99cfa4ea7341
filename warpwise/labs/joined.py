"""Notebooks whose texts are whole strings: of an output in lines, JupyterLite shows commas, too."""

from __future__ import annotations

from pathlib import Path

import nbformat


def copy(notebook: Path, place: Path) -> None:
    """Write the same notebook with each of its texts in one piece."""
    same = nbformat.read(notebook, as_version=4)
    place.write_text(nbformat.writes(same, split_lines=False), "utf-8")
