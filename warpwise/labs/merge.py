"""Move a student's answers from the notebook of one version of a lab into that of another.

An answer moves where the exercise is the same in both (``versions``) and not answered in the new
notebook. Any other answer stands below its exercise as a comment, so that it neither runs nor
counts. Cells of the student's own go to the end. Nothing is added twice, and no answer in the new
notebook is changed. This module only rearranges notebooks; ``update`` reads and writes files."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from warpwise.labs.lookup import is_stub_syntax
from warpwise.labs.source import new_code_cell, new_markdown_cell, role
from warpwise.labs.versions import KEY, bare

OURS = re.compile(r"(text|given|explore)-\d+|(exercise|check|older)-.*|given-setup|own-cells")
OTHER = "# Your answer from another version of this lab, in which the exercise was another:\n"
BOTH = "# Your other answer, from the notebook that was moved into this one:\n"
HEADING = "## Cells of your own\n\nThey come from your older notebook."


@dataclass(frozen=True)
class Merged:
    """A new notebook, the exercises ``moved`` into it, those to ``look`` at, and own cells."""

    notebook: NotebookNode
    moved: tuple[str, ...]
    look: tuple[str, ...]
    own: int


def merge(old: NotebookNode, new: NotebookNode) -> Merged:
    """Return a copy of ``new`` with the answers and the own cells of ``old``."""
    made: list[NotebookNode] = []
    moved: list[str] = []
    look: list[str] = []
    present = {_key(cell) for cell in new.cells}
    for cell in copy.deepcopy(new.cells):
        made.append(cell)
        if role(cell) != "exercise":
            continue
        id, name = cell.metadata["warpwise"]["id"], cell.metadata["warpwise"]["name"]
        answer = _answer(old, id, name)
        if not answer or bare(answer) == bare(cell.source):
            continue
        same = _same(old, new, id)
        if same and not _begun(cell.source, name):
            cell.source = answer
            moved.append(id)
            continue
        kept = _comment(BOTH if same else OTHER, answer, f"older-{id}", new)
        if _key(kept) not in present:
            made.append(kept)
            look.append(id)
    present |= {_key(cell) for cell in made}
    own = [cell for cell in _own(old) if _key(cell) not in present]
    if own and not any(cell.get("id") == "own-cells" for cell in made):
        made.append(new_markdown_cell(HEADING, id="own-cells"))
    made += [_fresh(cell) for cell in own]
    result = copy.deepcopy(new)
    result.cells = made
    return Merged(result, tuple(moved), tuple(look), len(own))


def _same(old: NotebookNode, new: NotebookNode, id: str) -> bool:
    """True if an exercise is the same in both.

    Where the old notebook has no digests, its check and all given code have to be."""
    before, now = (n.metadata.get("warpwise", {}) for n in (old, new))
    if before.get("version") == now.get("version"):
        return True
    if KEY in before:
        return bool(before[KEY].get(id) == now.get(KEY, {}).get(id, ""))
    return _setting(old, id) == _setting(new, id)


def _setting(notebook: NotebookNode, id: str) -> list[str]:
    """The code around an exercise: its check, and what is given."""
    parts = [c for c in notebook.cells if role(c) == "given" or c.get("id") == f"check-{id}"]
    return [bare(cell.source) for cell in parts]


def _answer(notebook: NotebookNode, id: str, name: str) -> str:
    """The text of a student's answer, as the grader finds it; "" if there is none to move."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    claiming = [c for c in cells if c.get("id") == f"exercise-{id}" or _claims(c, id)]
    found = [c for c in claiming if _defines(c, name)] or [c for c in cells if _defines(c, name)]
    text = found[-1].source if found else ""
    return text if _begun(text, name) else ""


def _claims(cell: NotebookNode, id: str) -> bool:
    ours = cell.metadata.get("warpwise", {})
    return isinstance(ours, dict) and ours.get("id") == id


def _defines(cell: NotebookNode, name: str) -> bool:
    return bool(re.search(rf"^def[ \t]+{re.escape(name)}\b", cell.source, re.M))


def _begun(source: str, name: str) -> bool:
    """True if a cell holds more than a stub; what is no Python was begun too."""
    if not source.strip():
        return False
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return True
    return any(not (is_stub_syntax(node) and _is(node, name)) for node in body)


def _is(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _comment(title: str, answer: str, id: str, notebook: NotebookNode) -> NotebookNode:
    """Make a cell in which an answer stands as a comment, with an id that is not taken."""
    text = title + "\n".join(f"# {line}".rstrip() for line in answer.split("\n"))
    taken = {cell.get("id") for cell in notebook.cells}
    count = 1
    while (fresh := id if count == 1 else f"{id}-{count}") in taken:
        count += 1
    return new_code_cell(text, id=fresh, metadata={"tags": ["explore"]})


def _own(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """Yield the cells that are the student's: added ones, and those to explore in."""
    for cell in notebook.cells:
        added = not OURS.fullmatch(str(cell.get("id", ""))) and not role(cell)
        theirs = added or role(cell) == "explore"
        if theirs and cell.source.strip() and cell.cell_type in ("code", "markdown"):
            yield cell


def _fresh(cell: NotebookNode) -> NotebookNode:
    """Return an own cell without its outputs and with a new id."""
    if cell.cell_type == "markdown":
        return new_markdown_cell(cell.source)
    return new_code_cell(cell.source, metadata={"tags": ["explore"]})


def _key(cell: NotebookNode) -> tuple[str, str]:
    return cell.cell_type, cell.source.strip()
