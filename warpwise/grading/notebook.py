"""Read a submission: from a file of unknown origin the text of each exercise, or a problem.

Only the text of code cells is looked at. Outputs, metadata, tags and the kernel's name are the
student's to change, so nothing here depends on them, except that a cell's id tells where to look
first. None of the text is parsed as Python in this process."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from warpwise.errors import GradingError
from warpwise.simt.compiler.spelling import nearest

MOST_BYTES = 10 * (1 << 20)
# many times those of a lab; each exercise looks at all of them
MOST_CELLS, MOST_CHARACTERS = 1_000, 1_000_000
MOST_CELL_CHARACTERS = 100_000
MOST_CLAIM_CHARACTERS = 80
MOST_DIGESTS = 100  # several times the exercises of a lab

# nbval's orders in a cell's text, such as to skip it or not to compare its output
NBVAL_MARKERS = (
    "PYTEST_VALIDATE_IGNORE_OUTPUT|NBVAL_IGNORE_OUTPUT|NBVAL_CHECK_OUTPUT|"
    "NBVAL_RAISES_EXCEPTION|NBVAL_SKIP"
)
NBVAL_MARKER = re.compile(rf"^[ \t]*#+[ \t]*({NBVAL_MARKERS})[ \t]*$", re.M)
# Lines that IPython reads and Python does not: %magic, !command, help?
IPYTHON_LINE = re.compile(r"^[ \t]*([%!?].*|[\w.]+\?{1,2}[ \t]*)$", re.M)
DEFINED = re.compile(r"^def[ \t]+(\w+)", re.M)


class Exercise(Protocol):
    """The fields of an exercise (``labs.source``, ``autograder``) by which its answer is found."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Cell:
    """One code cell. ``exercise`` is the id that its metadata or its cell id claims, if any."""

    text: str
    exercise: str = ""


@dataclass(frozen=True)
class Notebook:
    """The code of a submission, and what its metadata claims.

    That is its lab, its version, ``edition``, when that was handed out, in words, and ``digests``,
    its exercises by id: see ``labs.versions``."""

    cells: tuple[Cell, ...]
    lab: str = ""
    version: str = ""
    edition: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """A student's text for one exercise.

    ``others`` are the notebook's code cells, where device functions may stand, with nothing in its
    own one's place: so every answer numbers the lines of each cell alike, and it is read once."""

    id: str
    kind: str
    name: str
    text: str
    others: tuple[str, ...] = ()


def read(path: Path) -> Notebook:
    """Read a notebook. Raises GradingError unless it has format 4 and is within the size limit."""
    try:
        found = json.loads(_content(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise GradingError("the file is not UTF-8 text, so not a notebook") from error
    except RecursionError as error:
        raise GradingError("the file is nested too deeply to be a notebook") from error
    except ValueError as error:
        wrong = f"its JSON breaks off or is wrong ({str(error)[:100]})"
        raise GradingError(f"the file is not a notebook: {wrong}") from error
    if not isinstance(found, dict) or "nbformat" not in found:
        raise GradingError("the file is JSON, but not a notebook")
    if found["nbformat"] != 4:
        old = f"the notebook has format {ascii(found['nbformat'])[:20]}, not 4"
        raise GradingError(f"{old}; open it in JupyterLab and save it again")
    if not isinstance(found.get("cells"), list):
        raise GradingError("the notebook has no list of cells")
    cells = tuple(cell for cell in map(_cell, found["cells"]) if cell is not None)
    if len(cells) > MOST_CELLS or sum(len(cell.text) for cell in cells) > MOST_CHARACTERS:
        cells_or = f"more than {MOST_CELLS:,} code cells, or "
        raise GradingError(
            f"the notebook has {cells_or}more than {MOST_CHARACTERS:,} characters of code"
        )
    lab, version = _claim(found, "lab"), _claim(found, "version")
    return Notebook(cells, lab, version, _edition(found, version), _digests(found))


def answers(
    notebook: Notebook, exercises: Sequence[Exercise], given: Sequence[str] = ()
) -> dict[str, Answer | None]:
    """Map each exercise's id to its answer, or None where no cell has it.

    A cell that claims the exercise and defines its function comes first, then any cell that defines
    the function, then a cell that only claims it, then one that defines a function of nearly that
    name, which is no other exercise's and in none of the ``given`` texts. Of several the last one
    counts, as it does when a notebook runs from top to bottom."""
    known = {name for text in given for name in DEFINED.findall(text)}
    known |= {exercise.name for exercise in exercises}
    return {exercise.id: _answer(notebook, exercise, known) for exercise in exercises}


def plain(text: str) -> str:
    """Blank out IPython's own lines of a cell, so that line numbers stay."""
    return IPYTHON_LINE.sub("", text)


def _answer(notebook: Notebook, exercise: Exercise, known: Collection[str]) -> Answer | None:
    defines = re.compile(rf"^[ \t]*(async[ \t]+)?def[ \t]+{re.escape(exercise.name)}\b", re.M)
    claiming = [cell for cell in notebook.cells if cell.exercise == exercise.id]
    defining = [cell for cell in notebook.cells if defines.search(cell.text)]
    found = [cell for cell in claiming if defines.search(cell.text)] or defining or claiming
    found = found or _misnamed(notebook, exercise.name, known)
    if not found:
        return None
    others = tuple("" if cell is found[-1] else cell.text for cell in notebook.cells)
    return Answer(exercise.id, exercise.kind, exercise.name, found[-1].text, others)


def _misnamed(notebook: Notebook, name: str, known: Collection[str]) -> list[Cell]:
    """Return the cells that define a function whose name is nearly that of an exercise."""
    defined = {cell: set(DEFINED.findall(cell.text)) - set(known) for cell in notebook.cells}
    near = nearest(name, [word for words in defined.values() for word in sorted(words)])
    return [cell for cell, words in defined.items() if near in words]


def _content(path: Path) -> bytes:
    """Read a regular file of at most MOST_BYTES. Links are not followed, pipes do not block."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if path.is_symlink():
            raise GradingError("the file is a link, which is not followed") from error
        raise GradingError(f"the file cannot be opened: {error.strerror}") from error
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise GradingError("this is not a regular file")
        content = b"" if about.st_size > MOST_BYTES else file.read(MOST_BYTES + 1)
    if about.st_size > MOST_BYTES or len(content) > MOST_BYTES:
        large = f"the file has more than {MOST_BYTES // (1 << 20)} MB"
        raise GradingError(f"{large}; clear the outputs and save it again")
    if not content.strip():
        raise GradingError("the file is empty")
    return content


def _cell(cell: object) -> Cell | None:
    """Read a code cell; None for other cells and for anything else."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str) or len(source) > MOST_CELL_CHARACTERS:
        return None
    # JSON can hold half of a surrogate pair, which no file can
    source = source.encode("utf-8", "replace").decode()
    id = cell.get("id")
    claim = _claim(cell, "id") or (id.removeprefix("exercise-") if isinstance(id, str) else "")
    return Cell(NBVAL_MARKER.sub("#", source), claim)


def _edition(holder: dict[str, Any], version: str) -> str:
    """The term for which a lab was handed out, or else the month, or else the bare version."""
    claims = (_claim(holder, "term"), _claim(holder, "released")[:7], f"version {version}")
    return next("".join(filter(str.isprintable, claim)) for claim in claims if claim)


def _digests(holder: dict[str, Any]) -> dict[str, str]:
    """Digests of exercises by id, if they are texts."""
    claims = _ours(holder).get("exercises")
    if not isinstance(claims, dict):
        return {}
    found = [(id, digest) for id, digest in claims.items() if isinstance(digest, str)]
    return {_cut(id): _cut(digest) for id, digest in found[:MOST_DIGESTS]}


def _claim(holder: dict[str, Any], key: str) -> str:
    """``metadata["warpwise"][key]`` if it is text, cut to the length of our names."""
    claim = _ours(holder).get(key)
    return _cut(claim) if isinstance(claim, str) else ""


def _ours(holder: dict[str, Any]) -> dict[str, Any]:
    metadata = holder.get("metadata")
    ours = metadata.get("warpwise") if isinstance(metadata, dict) else None
    return ours if isinstance(ours, dict) else {}


def _cut(text: str) -> str:
    return text[:MOST_CLAIM_CHARACTERS].encode("utf-8", "replace").decode()
