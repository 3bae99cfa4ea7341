"""Versions of a lab: which answers of an older notebook still answer the exercises of today.

A notebook carries a digest of each of its exercises, of everything that an answer depends on: the
exercise's id, kind and name, its stub, the code of its check (arguments, launches, budgets: what
the hidden tests ask for too), and the given code that these and the solution use. Prose, hints,
points and comments are in none, so a mended sentence changes no digest. Any grader can compare a
notebook's digests with those of its own lab, and needs no archive of older ones."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Sequence

from nbformat import NotebookNode

from warpwise.labs.source import Exercise, Lab, role, stub, unmarked
from warpwise.labs.trees import parse

KEY = "exercises"  #: of a notebook's metadata, beside ``version``
DIGITS = 12
ROUGHLY = re.compile(r"^(\s*\.\.\.)  # roughly .*$", re.M)


def digests(lab: Lab) -> dict[str, str]:
    """Return the digest of each exercise of a lab, by its id."""
    around = [*_definitions(lab)]
    return {exercise.id: _digest(_contract(lab, exercise, around)) for exercise in lab.exercises}


def stamp(notebook: NotebookNode, lab: Lab) -> NotebookNode:
    """Write the exercises' digests into the metadata of a lab's notebook."""
    notebook.metadata["warpwise"][KEY] = digests(lab)
    return notebook


def bare(source: str) -> str:
    """Return code without what no answer depends on: comments on their own lines, empty lines."""
    lines = (line.rstrip() for line in ROUGHLY.sub(r"\1", source).split("\n"))
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def _contract(lab: Lab, exercise: Exercise, around: Sequence[tuple[str, str]]) -> list[str]:
    """List the texts that an answer depends on, in the notebook's order."""
    [cell, check] = [c for c in lab.cells if _belongs(c, exercise.id)]
    uses = _names(unmarked(cell.source)) | _names(check.source)
    needed: set[str] = set()
    while more := {name for name, _ in around if name in uses} - needed:
        needed |= more
        uses |= {used for name, text in around if name in more for used in _names(text)}
    own = {exercise.name} | set(_defined(check.source))
    given = [text for name, text in around if name in needed - own]
    about = [exercise.id, exercise.kind, exercise.name]
    return [*about, bare(stub(cell.source)), bare(check.source), *dict.fromkeys(given)]


def _belongs(cell: NotebookNode, id: str) -> bool:
    mine = cell.metadata.get("warpwise", {})
    return cell.cell_type == "code" and id in (mine.get("id"), mine.get("check"))


def _definitions(lab: Lab) -> Iterable[tuple[str, str]]:
    """Yield each name that a cell of a lab defines, with the text of the statement."""
    for cell in lab.cells:
        if role(cell) == "exercise":
            yield from _statements(stub(cell.source))
        elif role(cell) in ("given", "check"):
            yield from _statements(cell.source)


def _statements(source: str) -> Iterable[tuple[str, str]]:
    lines = source.split("\n")
    for node in _tree(source).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        text = bare("\n".join(lines[first - 1 : node.end_lineno]))
        yield from ((name, text) for name in _bound(node))


def _defined(source: str) -> list[str]:
    return [name for node in _tree(source).body for name in _bound(node)]


def _bound(node: ast.stmt) -> list[str]:
    """List the names that a statement at the top of a cell defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return []  # libraries are the release's, and no part of a task
    stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return [n.id for n in stored if isinstance(n.ctx, ast.Store)]


def _names(source: str) -> set[str]:
    """Return the names that code looks up outside its own functions."""
    return {name for node in _tree(source).body for name in _free(node)}


def _free(node: ast.stmt) -> set[str]:
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    loaded = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    if not isinstance(node, ast.FunctionDef):
        return loaded
    arguments = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    return loaded - arguments - {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _tree(source: str) -> ast.Module:
    """Parse a cell; magics and other lines that are IPython's define nothing."""
    try:
        return parse(source)
    except SyntaxError:
        return ast.Module([], [])


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:DIGITS]
