"""Definite assignment: which reads of a variable might come before it has a value.

Only such reads need a check while the kernel runs, and a kernel that gives its variables a value on every path has none. A branch
may or may not be taken, and a loop may make no trip at all; that is all this looks at.
"""

from __future__ import annotations

import ast

Place = tuple[int, int]  #: line and column of a name


def unsure_reads(tree: ast.FunctionDef, variables: frozenset[str]) -> frozenset[Place]:
    """The places in a function where one of its variables is read and some path gives it no value."""
    walk = _Walk(variables)
    walk.body(tree.body, frozenset(a.arg for a in tree.args.args))
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
                return _joined(None if is_forever(node) else have, *self.loop(node, have))
            case ast.For(iter=numbers, target=target):
                self.read(numbers, have)
                return _joined(have, *self.loop(node, have | _stored(target)))
            case ast.Break():
                self.breaks[-1].append(have)
                return None
            case ast.Continue() | ast.Return(value=None):
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
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                self.read_name(name, have)

    def read_name(self, name: ast.Name, have: frozenset[str]) -> None:
        if name.id in self.variables and name.id not in have:
            self.unsure.add((name.lineno, name.col_offset))


def _stored(node: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
