"""A mistake of ``chapters/mistakes`` and its fix: a faulty program, a right one, and the reason.

The right one is ``NAME_correct.py``, whose docstring is the reason. Where several mistakes are
mended by one program, it has a name of its own, and each faulty one ends with a line that names it:
``# fix: PROGRAM.py: REASON``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

FIX = re.compile(r"^# fix: (\w+\.py): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Pair:
    """The files of a mistake and of its fix, and why that is right."""

    faulty: Path
    correct: Path
    reason: str


def pair(folder: Path, name: str) -> Pair:
    """Return the pair of a name such as ``barriers/in_a_branch``.

    Raises FileNotFoundError if there is none."""
    faulty, correct = (folder / f"{name}_{kind}.py" for kind in ("faulty", "correct"))
    shared = FIX.search(faulty.read_text("utf-8"))
    if shared:
        return Pair(faulty, faulty.with_name(shared[1]), shared[2])
    return Pair(faulty, correct, description(correct.read_text("utf-8")))


def description(text: str) -> str:
    """Return the docstring of a program."""
    return ast.get_docstring(ast.parse(text)) or ""
