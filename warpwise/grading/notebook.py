"""Read a submission: a file of unknown origin in, the text of each exercise out, or one line that says why not.

Only the text of code cells is looked at. Outputs, metadata, tags and the kernel's name are the student's to change, so nothing
here depends on them, except that a cell's id says where to look first. Nothing of the text is parsed as Python in this process.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwise.errors import GradingError

if TYPE_CHECKING:  # that module reads lab sources with jupytext, which a simulation has no use for
    from warpwise.labs.source import Exercise

MOST_BYTES = 10 * (1 << 20)
MOST_CELLS, MOST_CHARACTERS = 1_000, 1_000_000  # many times what a lab has; each exercise looks at all of them
MOST_CELL_CHARACTERS = 100_000
MOST_CLAIM_CHARACTERS = 80

# What nbval would read in a cell's text as an order to skip it, to expect an error, or not to compare its output.
NBVAL_MARKER = re.compile(
    r"^[ \t]*#+[ \t]*(PYTEST_VALIDATE_IGNORE_OUTPUT|NBVAL_IGNORE_OUTPUT|NBVAL_CHECK_OUTPUT|NBVAL_RAISES_EXCEPTION|NBVAL_SKIP)[ \t]*$", re.M
)
# Lines that IPython reads and Python does not: %magic, !command, help?
IPYTHON_LINE = re.compile(r"^[ \t]*([%!?].*|[\w.]+\?{1,2}[ \t]*)$", re.M)


@dataclass(frozen=True)
class Cell:
    """One code cell. ``exercise`` is the id that its metadata or its cell id claims, if any."""

    text: str
    exercise: str = ""


@dataclass(frozen=True)
class Notebook:
    """The code of a submission, and the lab that it says it belongs to, with that lab's version."""

    cells: tuple[Cell, ...]
    lab: str = ""
    version: str = ""


@dataclass(frozen=True)
class Answer:
    """A student's text for one exercise; ``others`` are the notebook's other code cells, where device functions may stand."""

    id: str
    kind: str
    name: str
    text: str
    others: tuple[str, ...] = ()


def read(path: Path) -> Notebook:
    """The notebook in a file. Raises GradingError for anything that is not a notebook of format 4 within the size limit."""
    try:
        found = json.loads(_content(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise GradingError("the file is not UTF-8 text, so not a notebook") from error
    except RecursionError as error:
        raise GradingError("the file is nested too deeply to be a notebook") from error
    except ValueError as error:
        raise GradingError(f"the file is not a notebook: its JSON breaks off or is wrong ({str(error)[:100]})") from error
    if not isinstance(found, dict) or "nbformat" not in found:
        raise GradingError("the file is JSON, but not a notebook")
    if found["nbformat"] != 4:
        raise GradingError(f"the notebook has format {ascii(found['nbformat'])[:20]}, not 4; open it in JupyterLab and save it again")
    if not isinstance(found.get("cells"), list):
        raise GradingError("the notebook has no list of cells")
    cells = tuple(cell for cell in map(_cell, found["cells"]) if cell is not None)
    if len(cells) > MOST_CELLS or sum(len(cell.text) for cell in cells) > MOST_CHARACTERS:
        raise GradingError(f"the notebook has more than {MOST_CELLS:,} code cells, or more than {MOST_CHARACTERS:,} characters of code")
    return Notebook(cells, _claim(found, "lab"), _claim(found, "version"))


def answers(notebook: Notebook, exercises: Sequence[Exercise]) -> dict[str, Answer | None]:
    """Each exercise's answer by id, None where no cell has it.

    A cell that claims the exercise and defines its function comes first, then any cell that defines the function, then a cell that
    only claims it. Of several the last one counts, as it does when a notebook runs from top to bottom.
    """
    return {exercise.id: _answer(notebook, exercise) for exercise in exercises}


def plain(text: str) -> str:
    """A cell's text without IPython's own lines, line numbers kept."""
    return IPYTHON_LINE.sub("", text)


def _answer(notebook: Notebook, exercise: Exercise) -> Answer | None:
    defines = re.compile(rf"^[ \t]*(async[ \t]+)?def[ \t]+{re.escape(exercise.name)}\b", re.M)
    claiming = [cell for cell in notebook.cells if cell.exercise == exercise.id]
    defining = [cell for cell in notebook.cells if defines.search(cell.text)]
    found = [cell for cell in claiming if defines.search(cell.text)] or defining or claiming
    if not found:
        return None
    others = tuple(cell.text for cell in notebook.cells if cell is not found[-1])
    return Answer(exercise.id, exercise.kind, exercise.name, found[-1].text, others)


def _content(path: Path) -> bytes:
    """The bytes of a regular file, at most MOST_BYTES; links are not followed, pipes and devices not opened for good."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        why = "is a link, which is not followed" if path.is_symlink() else f"cannot be opened: {error.strerror}"
        raise GradingError(f"the file {why}") from error
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise GradingError("this is not a regular file")
        content = b"" if about.st_size > MOST_BYTES else file.read(MOST_BYTES + 1)
    if about.st_size > MOST_BYTES or len(content) > MOST_BYTES:
        raise GradingError(f"the file has more than {MOST_BYTES // (1 << 20)} MB; clear the outputs and save it again")
    if not content.strip():
        raise GradingError("the file is empty")
    return content


def _cell(cell: object) -> Cell | None:
    """A code cell's text; None for other cells and for what is not a cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str) or len(source) > MOST_CELL_CHARACTERS:
        return None
    source = source.encode("utf-8", "replace").decode()  # JSON can hold half of a surrogate pair, which no file can
    claim = _claim(cell, "id") or (cell["id"].removeprefix("exercise-") if isinstance(cell.get("id"), str) else "")
    return Cell(NBVAL_MARKER.sub("#", source), claim)


def _claim(holder: dict, key: str) -> str:
    """``metadata["warpwise"][key]`` if it is text, of which no more is kept than a name of ours has."""
    metadata = holder.get("metadata")
    ours = metadata.get("warpwise") if isinstance(metadata, dict) else None
    claim = ours.get(key) if isinstance(ours, dict) else None
    return claim[:MOST_CLAIM_CHARACTERS].encode("utf-8", "replace").decode() if isinstance(claim, str) else ""
