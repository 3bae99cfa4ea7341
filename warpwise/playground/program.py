"""A program out of a page's cells: the statements that one cell needs, and the cell itself.

A text keeps its comments and its empty lines; of other cells come the statements that are needed,
as they are written there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from warpwise.cells import Statement, needed, statements

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def program(request: Mapping[str, Any]) -> dict[str, str]:
    """Return ``kernel`` and ``launch`` of the cell ``text`` after ``cells``, those before it.

    ``then`` is what the cell shows in the end. All up to the last function is the kernel."""
    texts = [*request["cells"], request["text"], request.get("then", "")]
    own = len(texts) - 2
    try:
        parts = statements(texts)
    except SyntaxError:  # which the playground will show
        return {"kernel": "\n\n".join(filter(None, texts[:-1])), "launch": texts[-1]}
    earlier = [part for part in parts if part.cell < own]
    kept = [*needed(earlier, parts[len(earlier) :]), *parts[len(earlier) :]]
    functions = [at for at, part in enumerate(kept) if isinstance(part.node, DEFINITIONS)]
    imports = [at for at, part in enumerate(kept) if part.modules]
    split = max([*functions, *imports], default=-1) + 1
    return {"kernel": written(kept[:split], texts), "launch": written(kept[split:], texts)}


def written(parts: Sequence[Statement], texts: Sequence[str]) -> str:
    """Return statements as they are written: those of one cell with the lines between them."""
    blocks: list[str] = []
    before: Statement | None = None
    for part in parts:
        lines = texts[part.cell].splitlines()
        text = "\n".join(lines[_first(part.node) - 1 : part.node.end_lineno])
        gap = _gap(before, part, lines) if before else ""
        blocks += [gap, text]
        before = part
    return "".join(blocks) + "\n" if blocks else ""


def _gap(before: Statement, part: Statement, lines: Sequence[str]) -> str:
    """Return what stands between two statements: the lines of their cell, or empty ones."""
    is_next = before.cell == part.cell
    between = lines[before.node.end_lineno : _first(part.node) - 1] if is_next else []
    if is_next and all(not one.strip() or one.startswith("#") for one in between):
        return "\n" + "".join(f"{one}\n" for one in between)
    if isinstance(before.node, DEFINITIONS) or isinstance(part.node, DEFINITIONS):
        return "\n\n\n"
    return "\n\n" if bool(before.modules) != bool(part.modules) else "\n"


def _first(node: ast.stmt) -> int:
    """Return the first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])
