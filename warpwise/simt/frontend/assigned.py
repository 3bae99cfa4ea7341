"""Definite assignment: reads of a variable that might come before it has a value.

Only these need a check while the kernel runs, and a kernel that assigns its variables on every path
has none. A branch may or may not be taken, and a loop may make no trip at all; nothing else is
considered."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Place = tuple[int, int]  #: line and column of a name


def own_nodes(node: ast.AST, into: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body or of a statement; ``into``: inner functions' too."""
    todo: list[ast.AST] = [*node.body] if isinstance(node, ast.FunctionDef) else [node]
    while todo:
        node = todo.pop()
        yield node
        if into or not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))


def names_in(node: ast.AST) -> set[str]:
    """Return every name that a piece of syntax reads or assigns."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def parameters(tree: ast.FunctionDef) -> tuple[str, ...]:
    """Return the names of a function's parameters, in the order in which a call gives them."""
    a = tree.args
    found = (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg)
    return tuple(p.arg for p in found if p is not None)


def assigned_names(tree: ast.FunctionDef) -> frozenset[str]:
    """Return the variables of a function: its parameters, and every name that it assigns."""
    return frozenset(parameters(tree)).union(*(_stored(statement) for statement in tree.body))


def unsure_reads(
    tree: ast.FunctionDef, variables: frozenset[str], given: tuple[str, ...]
) -> frozenset[Place]:
    """Find the reads of a function's variables to which some path gives no value.

    ``given``: the variables that have one at the start."""
    walk = _Walk(variables)
    walk.body(tree.body, frozenset(given))
    return frozenset(walk.unsure)


def is_forever(loop: ast.While) -> bool:
    """True for ``while True``: only break and return lead out of it."""
    return isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _joined(*paths: frozenset[str] | None) -> frozenset[str] | None:
    """Return the names with a value where paths meet; a path that does not get here is None."""
    here = [p for p in paths if p is not None]
    return frozenset.intersection(*here) if here else None


class _Walk:
    """Walks statements in order: names that surely have a value before each -> those after it."""

    def __init__(self, variables: frozenset[str]):
        self.variables = variables
        self.unsure: set[Place] = set()
        self.breaks: list[list[frozenset[str]]] = []

    def body(
        self, statements: list[ast.stmt], have: frozenset[str] | None
    ) -> frozenset[str] | None:
        for statement in statements:
            if have is None:
                break
            have = self.statement(statement, have)
        return have

    def statement(self, node: ast.stmt, have: frozenset[str]) -> frozenset[str] | None:
        match node:
            case ast.If(test=test):
                self.read(test, have)
                return _joined(self.body(node.body, have), self.body(node.orelse, have))
            case ast.While(test=test):
                self.read(test, have)
                through = None if is_forever(node) else have
                return _joined(*self.loop(node, have), self.body(node.orelse, through))
            case ast.For(iter=numbers, target=target):
                self.read(numbers, have)
                broken = self.loop(node, have | _stored(target))
                return _joined(*broken, self.body(node.orelse, have))
            case ast.FunctionDef(name=name):
                return have | {name}
            case ast.Break():
                self.breaks[-1].append(have)
                return None
            case ast.Continue() | ast.Return(value=None) | ast.Raise():
                return None
            case ast.AugAssign(target=ast.Name() as target):
                self.read_name(target, have)
        self.read(node, have)
        return None if isinstance(node, ast.Return) else have | _stored(node)

    def loop(self, node: ast.For | ast.While, have: frozenset[str]) -> list[frozenset[str]]:
        """Walk a loop's body; return the names with a value at each break."""
        self.breaks.append([])
        self.body(node.body, have)
        return self.breaks.pop()

    def read(self, node: ast.AST, have: frozenset[str]) -> None:
        for name in own_nodes(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                self.read_name(name, have)

    def read_name(self, name: ast.Name, have: frozenset[str]) -> None:
        if name.id in self.variables and name.id not in have:
            self.unsure.add((name.lineno, name.col_offset))


def _stored(node: ast.AST) -> frozenset[str]:
    """Return the names that a statement assigns; a ``def`` assigns its own."""
    if isinstance(node, ast.FunctionDef):
        return frozenset([node.name])
    nodes = list(own_nodes(node))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(names | {n.name for n in nodes if isinstance(n, ast.FunctionDef)})
