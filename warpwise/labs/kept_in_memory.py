"""Find sums that a kernel keeps in memory instead of a variable, in its text.

``y[col] += x[row, col]`` in a loop over rows loads and stores an element in every trip, where a
variable of the thread would do. Left out: elements that a loop moves along, and atomics."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from warpwise.simt import Kernel

KEPT = (
    "line {line} loads and stores {element} in every trip of a loop: keep it in a variable of the "
    "thread, and store it once, after the loop"
)


def kept_in_memory(kernel: Kernel, counter: str) -> str:
    """Say which line keeps a sum in the memory that a counter is about; "" if none does."""
    space = "shared" if counter.startswith("shared_") else "global"
    for loop in ast.walk(kernel.tree):
        if isinstance(loop, ast.For | ast.While):
            for statement, element in _updates(loop):
                if space == _space(kernel, element):
                    line = kernel.where(statement).line
                    return KEPT.format(line=line, element=ast.unparse(element))
    return ""


def _updates(loop: ast.For | ast.While) -> Iterator[tuple[ast.stmt, ast.Subscript]]:
    """Yield the lines of a loop that update one element all along, and the element."""
    moved = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and _is_stored(n)}
    for node in ast.walk(loop):
        match node:
            case ast.AugAssign(target=ast.Subscript() as target):
                pass
            case ast.Assign(targets=[ast.Subscript() as target], value=ast.BinOp(left=left)) if (
                ast.unparse(left) == ast.unparse(target)
            ):
                pass
            case _:
                continue
        names = {n.id for n in ast.walk(target.slice) if isinstance(n, ast.Name)}
        if names.isdisjoint(moved):
            yield node, target


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _space(kernel: Kernel, element: ast.Subscript) -> str:
    """Return the memory that an element is in, "" if the text does not say."""
    name = ast.unparse(element.value)
    if name in kernel.parameters:
        return "global"
    made = (
        ast.unparse(node.value)
        for node in ast.walk(kernel.tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )
    return "shared" if "shared.array" in next(made, "") else ""
