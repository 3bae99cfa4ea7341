"""Find places that a kernel divides out in each step though they never change, in its text.

``(t + 64 * i) // 8`` for eight ``i`` is eight divisions, and nothing in them depends on the step.
So the compiler can do them before the loop over steps, and keep eight numbers in registers;
``t // 8 + 8 * i`` is one number, and eight constants. Left out: what helper functions divide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from warpwise.labs.unknown_places import is_number
from warpwise.simt import Kernel

SAME = (
    "on line {line}, the values of `{value}` are the same in every trip of the loop on line "
    "{outer}, and the compiler may keep all of them"
)


def kept_places(kernel: Kernel) -> str:
    """Say which place is divided out in a short loop, in each trip of a long one; "" if none is."""
    sources = _sources(kernel)
    loops = [node for node in ast.walk(kernel.tree) if isinstance(node, ast.For | ast.While)]
    for outer in loops:
        if _is_short(kernel, outer):
            continue
        changing = {name for one in ast.walk(outer) if (name := _advanced(one, sources))}
        for inner in (node for node in ast.walk(outer) if _is_short(kernel, node)):
            for value in _divided(inner):
                names = _behind(value, sources)
                counts = isinstance(inner, ast.For) and ast.unparse(inner.target) in names
                if counts and names.isdisjoint(changing | _counters(outer)):
                    line = kernel.where(value).line
                    found = {"value": ast.unparse(value), "outer": kernel.where(outer).line}
                    return SAME.format(line=line, **found)
    return ""


def _is_short(kernel: Kernel, node: ast.AST) -> bool:
    """True for a loop over a range of numbers, which the compiler unrolls."""
    return (
        isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and all(_is_number(kernel, bound) for bound in node.iter.args)
    )


def _is_number(kernel: Kernel, node: ast.expr) -> bool:
    """True for a number, and for a name that is one outside of the kernel."""
    if isinstance(node, ast.Name) and node.id not in {*kernel.assigned, *kernel.parameters}:
        return is_number(kernel, node.id)
    return isinstance(node, ast.Constant)


def _divided(loop: ast.AST) -> Iterator[ast.BinOp]:
    """Yield the divisions and remainders in a loop, in the order of the text."""
    found = (
        node
        for node in ast.walk(loop)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)
    )
    yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _counters(loop: ast.For | ast.While) -> set[str]:
    """Return the names that a loop counts with, such as those in a condition."""
    return _names(loop.target if isinstance(loop, ast.For) else loop.test)


def _sources(kernel: Kernel) -> dict[str, set[str]]:
    """Return, of each name that a kernel assigns, the names that it is made of."""
    made: dict[str, set[str]] = {}
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n for target in targets for n in _stored(target)):
                made.setdefault(name, set()).update(_names(node.value))
    return made


def _advanced(node: ast.AST, sources: dict[str, set[str]]) -> str:
    """Return the name that a statement advances, as ``at += 8`` or ``half = 1 - half`` does."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        return name if name in _behind(node.value, sources) else ""
    return ""


def _stored(target: ast.expr) -> Iterator[str]:
    return (
        n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


def _behind(node: ast.AST, sources: dict[str, set[str]]) -> set[str]:
    """Return the names in an expression, and those that they are made of."""
    found, left = set[str](), _names(node)
    while left:
        name = left.pop()
        found.add(name)
        left |= sources.get(name, set()) - found
    return found


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
