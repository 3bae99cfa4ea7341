"""Find variables that only one thread sets and that others read, which a text alone shows.

Where ``if cuda.threadIdx.x == 0:`` is followed by ``top = ...``, the other threads never see it: a
variable is each thread's own. Left out: values that a shuffle hands on, and variables that all
threads set again below."""

from __future__ import annotations

import ast
from collections.abc import Iterator

NUMBERS_OF_A_THREAD = ("threadIdx", "laneid", "grid")
OWN = (
    "{name} is set only where {test}, and a variable is each thread's own: store it into shared "
    "memory there, and let the others read it after cuda.syncthreads()"
)


def set_by_one(tree: ast.AST) -> str:
    """Say which variable is set by one thread alone and read by others; "" if none is."""
    numbers = _numbers(tree)
    for branch in ast.walk(tree):
        if isinstance(branch, ast.If) and _chooses_one(branch.test, numbers):
            for found in _set_in(branch):
                if _read_outside(tree, branch, found, numbers):
                    return OWN.format(name=found, test=ast.unparse(branch.test))
    return ""


def _numbers(tree: ast.AST) -> frozenset[str]:
    """Return the variables that hold the number of a thread."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_number(node.value, frozenset()):
            found |= {n.id for target in node.targets for n in _names(target)}
    return frozenset(found)


def _is_number(node: ast.expr, numbers: frozenset[str]) -> bool:
    """True for ``cuda.threadIdx.x``, ``cuda.grid(1)``, ``cuda.laneid``, and names of these."""
    if isinstance(node, ast.Tuple):
        return any(_is_number(part, numbers) for part in node.elts)
    if isinstance(node, ast.Name):
        return node.id in numbers
    names = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return not isinstance(node, ast.BinOp) and not names.isdisjoint(NUMBERS_OF_A_THREAD)


def _chooses_one(test: ast.expr, numbers: frozenset[str]) -> bool:
    """True for ``t == 0``, also beside other conditions."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_chooses_one(value, numbers) for value in values)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant()]):
            return _is_number(left, numbers)
    return False


def _set_in(branch: ast.If) -> Iterator[str]:
    for statement in branch.body:
        yield from (n.id for n in _names(statement) if isinstance(n.ctx, ast.Store))


def _read_outside(tree: ast.AST, branch: ast.If, name: str, numbers: frozenset[str]) -> bool:
    """True if all threads read a variable below a branch, and do not set it there."""
    end = branch.end_lineno or branch.lineno
    alone = {
        id(node)
        for other in ast.walk(tree)
        if isinstance(other, ast.If) and _chooses_one(other.test, numbers)
        for statement in other.body
        for node in ast.walk(statement)
    }
    handed_on = {
        n.id
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and "shfl" in ast.unparse(call.func)
        for n in _names(call)
    }
    later = [n for n in _names(tree) if n.id == name and n.lineno > end and id(n) not in alone]
    stored = any(isinstance(n.ctx, ast.Store) for n in later)
    return bool(later) and not stored and name not in handed_on


def _names(tree: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
