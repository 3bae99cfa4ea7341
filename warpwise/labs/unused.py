"""Find the names of a function that nothing is made of: a parameter that is never read, a variable
that is worked out and left.

In a wrong answer such a name is often the step that is left out. It is found in the text alone, and
says nothing of the numbers. Left out: loop variables, parts of a tuple, and names that begin with
an underscore, which people leave unused on purpose."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

OF_ITS_SHAPE = frozenset({"shape", "size", "ndim", "dtype", "nbytes"})
NEVER_READ = "{names} {is_} never read: which step of the exercise needs {it}?"
NEVER_USED = "{names} {is_} worked out and never used: where {is_} {it} needed?"
MOST_NAMED = 3


def unused(tree: ast.FunctionDef, outputs: Collection[str] = ()) -> str:
    """Ask about the names that a function never uses; "" if there are none.

    ``outputs`` are parameters that nobody has to read."""
    used = _used(tree).union(outputs)
    parameters = [arg.arg for arg in tree.args.args if arg.arg not in used]
    if parameters:
        return _told(NEVER_READ, parameters)
    return _told(NEVER_USED, [name for name in _assigned(tree) if name not in used])


def _told(form: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    *first, last = names[:MOST_NAMED]
    joined = f"{', '.join(first)} and {last}" if first else last
    is_, it = ("are", "they") if first else ("is", "it")
    if form == NEVER_READ and first:
        it = "them"
    return form.format(names=joined, is_=is_, it=it)


def _used(tree: ast.FunctionDef) -> frozenset[str]:
    """Return the names whose value is used, or to whose elements something is stored.

    The shape of an array is no use of its elements."""
    of_shapes = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in OF_ITS_SHAPE
    }
    return frozenset(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and id(node) not in of_shapes
    )


def _assigned(tree: ast.FunctionDef) -> list[str]:
    """Return the names that a statement of their own gives a value, in order, each once."""
    targets = [
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]
    return list(dict.fromkeys(target.id for target in targets))
