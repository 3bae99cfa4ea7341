"""Read a lab's one source, a MyST text notebook in ``solutions/``, into cells and exercises.

Cells carry one of four tags. ``given`` code is ours and stays. ``exercise`` cells lose the lines
between ``### BEGIN SOLUTION`` and ``### END SOLUTION``. ``check`` cells judge an exercise and keep
their reference output. ``explore`` cells are the student's own. The metadata of an exercise cell is
``warpwise: {id: transpose, points: 3, kind: kernel, name: transpose}``, with ``kind: host`` for a
plain function and, where one of several exercises is enough, ``choice: name``; that of its check
cell is ``warpwise: {check: transpose}``. Hints are ``<details>`` in the text before the exercise.
Reading a source checks it: a lab without hints, with an unchecked exercise or an open solution
region is refused here. This module only rearranges text; ``build`` runs the notebook and writes
files."""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from warpwise.errors import LabError
from warpwise.labs.fold import FOLDED, Unit, headed
from warpwise.labs.trees import parse

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KINDS = ("kernel", "host")
ROLES = ("given", "exercise", "check", "explore")
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CHECKOUT = Path(__file__).resolve().parents[2]
# nbformat has no annotations for them
new_code_cell: Callable[..., NotebookNode] = nbformat.v4.new_code_cell
new_markdown_cell: Callable[..., NotebookNode] = nbformat.v4.new_markdown_cell
Outputs = Mapping[str, Sequence[NotebookNode]]  # of check cells, by exercise id


@dataclass(frozen=True)
class Exercise:
    """One exercise: its id and points, its kind (kernel or host), and the function's name.

    Of exercises with the same ``choice`` a student takes one: the best of them counts."""

    id: str
    points: int
    kind: str
    name: str
    choice: str = ""


@dataclass(frozen=True)
class Lab:
    """A lab as its source has it; ``version`` is a digest of that source."""

    stem: str
    title: str
    version: str
    cells: tuple[NotebookNode, ...]
    exercises: tuple[Exercise, ...]

    @property
    def units(self) -> tuple[Unit, ...]:
        """The exercises by name, those of a choice together."""
        found: dict[str, list[str]] = {}
        for exercise in self.exercises:
            found.setdefault(exercise.choice or exercise.id, []).append(exercise.name)
        return tuple(map(tuple, found.values()))

    def exercise(self, id: str) -> Exercise:
        """Return the exercise with this id. Raises LabError when the lab has none."""
        for exercise in self.exercises:
            if exercise.id == id:
                return exercise
        known = ", ".join(exercise.id for exercise in self.exercises)
        raise LabError(f"lab {self.stem} has no exercise {id!r}; it has {known}")


def load_lab(path_or_stem: str | Path) -> Lab:
    """Read and check ``solutions/NN_topic.md``, named by its path or stem. Raises LabError."""
    path = _find(path_or_stem)
    try:
        return _read(path, path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(f"{path} cannot be read as a lab: {error}") from error


@lru_cache(maxsize=64)
def _read(path: Path, text: str) -> Lab:
    """Read a lab's text, once: the cells are not to be changed."""
    import jupytext  # which takes long, and whoever is sent a lab does not need

    cells = tuple(_tidy(cell) for cell in jupytext.reads(text, fmt="md:myst").cells)
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    lab = Lab(path.stem, _title(path, cells), version, cells, _exercises(path, cells))
    for problem in problems(lab):
        raise LabError(f"{path}: {problem}")
    return lab


def student_notebook(lab: Lab, outputs: Outputs | None = None) -> NotebookNode:
    """Make a student's notebook: stubs in exercise cells, reference outputs in check cells."""
    return _notebook(lab, stub, outputs or {})


def solved_notebook(lab: Lab, outputs: Outputs | None = None) -> NotebookNode:
    """Make the same notebook with the solutions in place."""
    return _notebook(lab, unmarked, outputs or {})


def marked_notebook(lab: Lab) -> NotebookNode:
    """Make the same notebook with the solutions in place, between their markers."""
    return _notebook(lab, str, {})


def notebook_text(notebook: NotebookNode) -> str:
    """Return a notebook as the text of its file."""
    return f"{nbformat.writes(notebook)}\n"


def role(cell: NotebookNode) -> str:
    """Return the part a cell plays: one of ROLES, or "" for text."""
    return next((tag for tag in cell.metadata.get("tags", ()) if tag in ROLES), "")


def stub(source: str) -> str:
    """Replace each solution region of an exercise cell by ``...  # roughly N lines``."""
    region: list[str] | None = None
    kept: list[str] = []
    for line in source.splitlines():
        if line.strip() == BEGIN:
            region = []
        elif line.strip() == END:
            length = _plural(_code_lines(region), "line")
            kept.append(f"{line[: line.index('#')]}...  # roughly {length}")
            region = None
        else:
            (kept if region is None else region).append(line)
    return "\n".join(kept)


def unmarked(source: str) -> str:
    """Return an exercise cell with its solution, without the two marker lines."""
    return "\n".join(line for line in source.splitlines() if line.strip() not in (BEGIN, END))


def problems(lab: Lab) -> list[str]:
    """List what is wrong with a lab's source, in words."""
    checks = [cell for cell in lab.cells if role(cell) == "check"]
    checked = [cell.metadata["warpwise"].get("check") for cell in checks]
    ids = [exercise.id for exercise in lab.exercises]
    alone = sorted(set(checked) ^ set(ids))
    found = [f"exercise {id!r} appears twice" for id in _repeated(ids)]
    found += [f"exercise {id!r} is checked twice" for id in _repeated(checked)]
    found += [f"exercise {id!r} needs one exercise cell and one check cell" for id in alone]
    found += [f"the exercises of choice {name!r} need the same points" for name in _unequal(lab)]
    for cell in lab.cells:
        if role(cell) == "exercise":
            found += _problems_of(cell)
        if cell.cell_type == "code" and not role(cell):
            untagged = f"a code cell has none of the tags {', '.join(ROLES)}"
            found.append(untagged)
    few = [id for id, hints in _hints(lab).items() if hints < 2]
    return found + [f"exercise {id!r} has fewer than two hints" for id in few]


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _problems_of(cell: NotebookNode) -> list[str]:
    """List what is wrong with one exercise cell: its markers, or the function it must define."""
    wanted = cell.metadata["warpwise"]
    marks = [line.strip() for line in cell.source.splitlines() if line.strip() in (BEGIN, END)]
    if not marks or marks != [BEGIN, END] * (len(marks) // 2):
        return [f"exercise {wanted['id']!r} needs {BEGIN} and {END}, in turn"]
    try:
        solved, stubbed = parse(unmarked(cell.source)), parse(stub(cell.source))
    except SyntaxError as error:
        return [f"exercise {wanted['id']!r} is not Python: {error}"]
    for tree in (solved, stubbed):
        if wanted["name"] not in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}:
            return [f"exercise {wanted['id']!r} does not define {wanted['name']}"]
    return []


def _unequal(lab: Lab) -> list[str]:
    """The choices whose exercises are not worth the same."""
    worth = {(exercise.choice, exercise.points) for exercise in lab.exercises if exercise.choice}
    return _repeated([choice for choice, _ in worth])


def _hints(lab: Lab) -> dict[str, int]:
    """Count the hints before each exercise cell, since the one before it."""
    counts: dict[str, int] = {}
    hints = 0
    for cell in lab.cells:
        if cell.cell_type == "markdown":
            hints += cell.source.count("<details>")
        elif role(cell) == "exercise":
            counts[cell.metadata["warpwise"]["id"]], hints = hints, 0
    return counts


def _find(path_or_stem: str | Path) -> Path:
    """Find a source by path, by stem in ./solutions, or by stem in this package's checkout."""
    given = Path(path_or_stem)
    if given.suffix == ".md" and given.is_file():
        return given
    stem = given.name.removesuffix(".md").removesuffix(".ipynb")
    for folder in (Path("solutions"), CHECKOUT / "solutions"):
        if (folder / f"{stem}.md").is_file():
            return folder / f"{stem}.md"
    raise LabError(f"no lab {str(path_or_stem)!r}: there is no solutions/{stem}.md")


def _title(path: Path, cells: Sequence[NotebookNode]) -> str:
    for cell in cells:
        heading = re.match(r"#\s+(.+)", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            return heading[1].strip()
    raise LabError(f"{path}: the first text cell needs a title, '# ...'")


def _exercises(path: Path, cells: Sequence[NotebookNode]) -> tuple[Exercise, ...]:
    found = []
    for cell in cells:
        if role(cell) == "exercise":
            try:
                found.append(Exercise(**cell.metadata["warpwise"]))
            except (KeyError, TypeError) as error:
                need = "an exercise cell needs warpwise: id, points, kind and name"
                raise LabError(f"{path}: {need} ({error})") from error
        elif role(cell) == "check" and "check" not in cell.metadata.get("warpwise", {}):
            raise LabError(f"{path}: a check cell needs warpwise: check, the id of its exercise")
    for exercise in found:
        if exercise.kind not in KINDS:
            kinds = f"is of kind {exercise.kind!r}; known are {', '.join(KINDS)}"
            raise LabError(f"{path}: exercise {exercise.id!r} {kinds}")
    return tuple(found)


def _tidy(cell: NotebookNode) -> NotebookNode:
    """Keep of a cell only what a lab needs, and mark check cells for nbval."""
    kept = {key: cell.metadata[key] for key in ("tags", "warpwise") if key in cell.metadata}
    if "check" in kept.get("tags", ()) and "nbval-check-output" not in kept["tags"]:
        kept["tags"] = [*kept["tags"], "nbval-check-output"]
    if cell.cell_type == "code":
        return _made("code", cell.source, kept, outputs=[], execution_count=None)
    return _made("markdown", cell.source, kept)


def _made(
    cell_type: str, source: str, metadata: Mapping[str, object], **more: object
) -> NotebookNode:
    """Make a cell, unvalidated: the notebook that it goes into is validated as a whole."""
    cell = NotebookNode(cell_type=cell_type, source=source)
    cell.update(metadata=metadata, **more)  # which makes nodes of what is nested
    return cell


def _notebook(lab: Lab, rewrite: Callable[[str], str], outputs: Outputs) -> NotebookNode:
    cells = [_cell(cell, number, rewrite, outputs) for number, cell in enumerate(lab.cells, 1)]
    for cell in cells:
        if role(cell) == "check":
            name = lab.exercise(cell.metadata["warpwise"]["check"]).name
            cell.source = headed(cell.source, name, lab.units)
            cell.metadata.update(copy.deepcopy(FOLDED))
    metadata = {
        "kernelspec": KERNELSPEC,
        "language_info": {"name": "python"},
        "warpwise": {"lab": lab.stem, "title": lab.title, "version": lab.version},
    }
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    return notebook


def _cell(
    cell: NotebookNode, number: int, rewrite: Callable[[str], str], outputs: Outputs
) -> NotebookNode:
    """Make one cell of a notebook, with an id that depends only on its role and its place."""
    metadata = copy.deepcopy(cell.metadata)  # running a notebook writes into it
    mine = metadata.get("warpwise", {})
    if cell.cell_type == "markdown":
        return _made("markdown", cell.source, metadata, id=f"text-{number:02}")
    part, source, count = role(cell), cell.source, None
    id, kept = f"{part}-{number:02}", list[NotebookNode]()
    if part == "exercise":
        id, source = f"exercise-{mine['id']}", rewrite(source)
    elif part == "check":
        # nbval compares nothing in a cell without an execution count, and refuses outputs there
        id, kept = f"check-{mine['check']}", list(outputs.get(mine["check"], ()))
        count = number if kept else None
    return _made("code", source, metadata, id=id, outputs=kept, execution_count=count)


def _code_lines(region: Sequence[str] | None) -> int:
    return sum(1 for line in region or () if line.strip() and not line.strip().startswith("#"))


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
