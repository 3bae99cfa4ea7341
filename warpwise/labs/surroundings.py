"""Find what a host function needs of the cells around it: functions, classes, constants, imports.

The whole of a student's cells cannot be run in grading, where there is no ``warpwise``. So the
definition of each name that the function reads is kept if it can be run with what else is kept. A
table that later statements fill is left out, because half of it would give wrong results."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import TypeAlias

from warpwise.cells.names import Names, base, late, loads

MODULES = (
    "collections", "copy", "dataclasses", "enum", "functools", "heapq", "itertools", "math",
    "numpy", "operator", "typing",
)  # fmt: skip
BUILTINS = frozenset([*dir(builtins), "__annotations__"])
#: methods by which lists, sets, dictionaries and arrays are changed
CHANGING = frozenset(
    "add append appendleft clear discard extend extendleft fill insert pop popitem put remove "
    "resize reverse setdefault sort update".split()
)
Definition: TypeAlias = ast.FunctionDef | ast.ClassDef


def needed(name: str, nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that define the function ``name``, with imports, in their order.

    ``nodes`` are those at the top of all cells; of equal names the last definition counts."""
    imports = [node for node in nodes if _is_plain_import(node)]
    changed = _changed(nodes)
    kept = [node for node in _last(name, nodes) if _may_be_kept(node, changed)]
    kept = _wanted(name, kept)
    there = BUILTINS.union(*map(_binds, imports))
    while True:
        known = there.union(*map(_binds, kept))
        can_run = [
            node for node in kept if isinstance(node, ast.FunctionDef) or loads(node) <= known
        ]
        if len(can_run) == len(kept):
            return [*imports, *kept]
        kept = can_run


def left_out(name: str, nodes: Sequence[ast.stmt]) -> Names:
    """Return the names that ``needed`` statements read and that others set, which are not kept."""
    kept = needed(name, nodes)
    reads = frozenset[str]().union(*(loads(node) | late(node) for node in kept))
    others = (part for node in nodes if not isinstance(node, Definition) for part in ast.walk(node))
    stored = {one.id for one in others if isinstance(one, ast.Name) and _is_stored(one)}
    return (reads & stored).difference(*map(_binds, kept))


def _last(name: str, nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Leave out functions and classes that are defined anew, and those of a GPU."""
    found: dict[str, ast.stmt] = {}
    for node in nodes:
        if isinstance(node, Definition) and (node.name == name or not _is_of_a_gpu(node)):
            found[node.name] = node
    last = set(map(id, found.values()))
    return [node for node in nodes if not isinstance(node, Definition) or id(node) in last]


def _wanted(name: str, nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Keep what binds ``name``, what that reads, and so on."""
    binds = [_binds(node) for node in nodes]
    names, wanted = {name}, set[int]()
    while True:
        more = {i for i, bound in enumerate(binds) if bound & names} - wanted
        if not more:
            return [node for i, node in enumerate(nodes) if i in wanted]
        wanted |= more
        names = names.union(*(loads(nodes[i]) | late(nodes[i]) for i in more))


def _may_be_kept(node: ast.stmt, changed: Set[str]) -> bool:
    if isinstance(node, Definition):
        return True
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not _binds(node):
        return False
    if any(isinstance(part, ast.Await) for part in ast.walk(node)):
        return False
    return _is_literal(node.value) or not _binds(node) & changed


def _binds(node: ast.stmt) -> Names:
    """Return the names that a statement binds; none for an assignment to anything but names."""
    if isinstance(node, Definition):
        return frozenset([node.name])
    if isinstance(node, ast.Import | ast.ImportFrom):
        return frozenset(one.asname or one.name.partition(".")[0] for one in node.names)
    if isinstance(node, ast.AnnAssign):
        return frozenset(_names([node.target] if node.value else []))
    return frozenset(_names(node.targets)) if isinstance(node, ast.Assign) else frozenset()


def _names(targets: Iterable[ast.expr]) -> Iterator[str]:
    parts = [part for target in targets for part in ast.walk(target)]
    stored = list(filter(_is_stored, parts))
    if all(isinstance(part, ast.Name | ast.Tuple | ast.List | ast.Starred) for part in stored):
        yield from (part.id for part in stored if isinstance(part, ast.Name))


def _changed(nodes: Iterable[ast.stmt]) -> set[str]:
    """Return the names whose objects are changed after they were set: items, attributes, or by a
    method of theirs."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Definition):
            continue
        found -= _binds(node)
        for part in ast.walk(node):
            if isinstance(part, ast.AugAssign | ast.For):
                found |= set(_names([part.target]))
            elif isinstance(part, ast.Subscript | ast.Attribute) and (
                _is_stored(part) or getattr(part, "attr", "") in CHANGING
            ):
                found |= set(base(part))
    return found


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _is_of_a_gpu(node: Definition) -> bool:
    """True for what ``cuda`` decorates; a plain function has at most a variable of its name."""
    return any("cuda" in loads(decorator) for decorator in node.decorator_list)


def _is_plain_import(node: ast.stmt) -> bool:
    modules: Iterable[str] = ()
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
    return bool(modules) and all(module.partition(".")[0] in MODULES for module in modules)


def _is_literal(value: ast.expr | None) -> bool:
    """True for a number, a text or alike that nothing can change."""
    try:
        hash(value and ast.literal_eval(value))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return value is not None
