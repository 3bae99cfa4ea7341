"""Definite assignment: which reads of a variable might come before it has a value.

Only such reads need a check while the kernel runs, and a kernel that gives its variables a value on every path has none. A branch
may or may not be taken, and a loop may make no trip at all; that is all this looks at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

Place = tuple[int, int]  #: line and column of a name


def own_nodes(node: ast.AST, into: bool = False) -> Iterator[ast.AST]:
    """The nodes of a function's body or of a statement, without those of functions within it; ``into``: with them."""
    todo = list(node.body) if isinstance(node, ast.FunctionDef) else [node]
    while todo:
        node = todo.pop()
        yield node
        if into or not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))


def parameters(tree: ast.FunctionDef) -> tuple[str, ...]:
    """The names of a function's parameters, in the order in which a call gives them."""
    a = tree.args
    found = (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg)
    return tuple(p.arg for p in found if p is not None)


def assigned_names(tree: ast.FunctionDef) -> frozenset[str]:
    """The variables of a function: its parameters, and every name that it gives a value."""
    return frozenset(parameters(tree)).union(*(_stored(statement) for statement in tree.body))


def unsure_reads(tree: ast.FunctionDef, variables: frozenset[str], given: tuple[str, ...]) -> frozenset[Place]:
    """The places in a function where one of its variables is read and some path gives it no value. ``given``: parameters."""
    walk = _Walk(variables)
    walk.body(tree.body, frozenset(given))
    return frozenset(walk.unsure)


def is_forever(loop: ast.While) -> bool:
    """True for ``while True``: only break and return lead out of it."""
    return isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _joined(*paths: frozenset[str] | None) -> frozenset[str] | None:
    """What has a value where paths meet; a path that does not get here is None."""
    here = [p for p in paths if p is not None]
    return frozenset.intersection(*here) if here else None


class _Walk:
    """Goes through statements in order; each takes the names that surely have a value before it and returns those after it."""

    def __init__(self, variables: frozenset[str]):
        self.variables, self.unsure = variables, set()
        self.breaks: list[list[frozenset[str]]] = []

    def body(self, statements: list[ast.stmt], have: frozenset[str] | None) -> frozenset[str] | None:
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
                return _joined(*self.loop(node, have | _stored(target)), self.body(node.orelse, have))
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
        """Go through a loop's body; returns what has a value at each break."""
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
    """The names that a statement gives a value; a ``def`` gives one to its own."""
    named = (n.name if isinstance(n, ast.FunctionDef) else n.id for n in own_nodes(node) if isinstance(n, ast.FunctionDef) or _is_stored(n))
    return frozenset([node.name]) if isinstance(node, ast.FunctionDef) else frozenset(named)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
