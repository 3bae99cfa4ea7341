"""Find the lines of a function on which a wrong output can have gone wrong.

What an output is made of is found backwards through the text: the lines that store to it, those
that give the names in them their values, and the conditions and loops around those. One mistake
that spoils some outputs and leaves others right most likely stands on a line that all the wrong
ones are made of, and none of the right. Left out: which element of an array is meant, and what a
called function does, which may change whatever it is given."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby

MOST_RUNS = 7  # of lines that are told
ALONE = "{right} {are} right: what else is {wrong} made of? Look at {lines}"


@dataclass(frozen=True)
class _Around:
    """What stands around a statement: the lines of conditions and loops, and what they read."""

    lines: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()

    def inside(self, node: ast.stmt, *read: ast.expr) -> _Around:
        names = self.names.union(*map(_names, read))
        return _Around(self.lines | {node.lineno}, names)


@dataclass(frozen=True)
class _Step:
    """A statement's line, the names that it changes, and those that decide what they become."""

    line: int
    changed: frozenset[str]
    read: frozenset[str]
    around: frozenset[int]  #: lines of the conditions and loops that it stands in


def suspects(
    tree: ast.FunctionDef, wrong: Collection[str], right: Collection[str]
) -> frozenset[int]:
    """Return the lines that all wrong outputs, and no right one, are made of."""
    if not wrong:
        return frozenset()
    steps = list(_steps(tree.body, _Around()))
    made = frozenset.intersection(*(_making(steps, name) for name in wrong))
    sound = frozenset[_Step]().union(*(_making(steps, name) for name in right))
    around, known = (frozenset[int]().union(*(o.around for o in some)) for some in (made, sound))
    return frozenset(one.line for one in made - sound) | (around - known)


def alone(tree: ast.FunctionDef, wrong: Collection[str], right: Collection[str], base: int) -> str:
    """Say on which lines the wrong outputs are made, and the right ones are not; "" if on too many.

    ``base`` is what a line's number is less in messages."""
    made = _arrays(tree)
    lines = sorted(suspects(tree, wrong, right) - made) if right else []
    told = list(_runs([line - base for line in lines]))
    if not 0 < len(told) <= MOST_RUNS:
        return ""
    numbers = f"line{'s' if len(lines) > 1 else ''} {_listed(told)}"
    are = "are" if len(right) > 1 else "is"
    return ALONE.format(right=_listed(right), are=are, wrong=_listed(wrong), lines=numbers)


def _runs(lines: list[int]) -> Iterator[str]:
    """Yield lines as they are told, those that follow one another together."""
    for _, run in groupby(enumerate(lines), key=lambda pair: pair[1] - pair[0]):
        first, *_, last = [line for _, line in run] * 2
        yield str(first) if first == last else f"{first} to {last}"


def _arrays(tree: ast.FunctionDef) -> frozenset[int]:
    """Return the lines that only make room for an array."""
    return frozenset(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).endswith((".array", "zeros", "empty", "full"))
    )


def _listed(names: Collection[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _making(steps: list[_Step], output: str) -> frozenset[_Step]:
    """Return the steps that an output is made by."""
    names, made = {output}, set[_Step]()
    while True:
        found = {one for one in steps if one not in made and not names.isdisjoint(one.changed)}
        if not found:
            return frozenset(made)
        made |= found
        names = names.union(*(one.read for one in found))


def _steps(block: list[ast.stmt], around: _Around) -> Iterator[_Step]:
    """Yield the steps of a block."""

    def step(changed: frozenset[str], *read: ast.expr) -> _Step:
        return _Step(node.lineno, changed, around.inside(node, *read).names, around.lines)

    for node in block:
        match node:
            case ast.For(target=target, iter=values, body=body, orelse=rest):
                yield step(_names(target), values)
                yield from _steps([*body, *rest], around.inside(node, values, target))
            case ast.While(test=test, body=body, orelse=rest):
                yield from _steps([*body, *rest], around.inside(node, test))
            case ast.If(test=test, body=body, orelse=rest):
                yield from _steps([*body, *rest], around.inside(node, test))
            case ast.Assign(targets=targets, value=value):
                for changed, read in _stored(targets, value):
                    yield step(changed, *read)
            case ast.AugAssign(target=target, value=value):
                yield step(_changed(target), target, value)
            case ast.Expr(value=ast.Call() as call):
                yield step(_names(call), call)


def _stored(
    targets: list[ast.expr], value: ast.expr
) -> Iterator[tuple[frozenset[str], list[ast.expr]]]:
    """Yield what an assignment changes, and what it reads; of a tuple to a tuple part by part."""
    for target in targets:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
        for one, part in pairs:
            parts = one.elts if isinstance(one, ast.Tuple) else [one]
            indices = [p.slice for p in parts if isinstance(p, ast.Subscript)]
            yield frozenset[str]().union(*map(_changed, parts)), [part, *indices]


def _changed(target: ast.expr) -> frozenset[str]:
    """Return the name of what is stored to."""
    while isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        target = target.value
    return frozenset({target.id}) if isinstance(target, ast.Name) else frozenset()


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
