"""The cells of a page, and functions defined in several cells of a notebook."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable

import numpy as np
from nbformat import NotebookNode

from warpwise import cuda, trace

# A cell of a page in MyST.
CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)
# What interrupts reading: a cell, or a guess that the reader is asked for.
PAUSE = re.compile(rf"{CELL.pattern}|^:::\{{guess\}}.*?^:::$", re.DOTALL | re.MULTILINE)
HIDDEN = {"remove-input", "remove-cell"}  #: tags of cells whose code no reader sees


def in_sight(code: Iterable[NotebookNode], name: str) -> bool:
    """Return whether a cell that a reader sees, or can unfold, defines the function ``name``."""
    shown = [cell.source for cell in code if not HIDDEN & set(cell.metadata.get("tags", []))]
    return any(re.search(rf"^ *def {name}\(", source, re.MULTILINE) for source in shown)


def cells(*texts: str) -> dict:
    """Return the names that a notebook's cells define, each cell read as its own file."""
    names = {"np": np, "cuda": cuda, "trace": trace}
    for number, text in enumerate(texts):
        file = f"<cell {number} of {abs(hash(texts))}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), names)
    return names
