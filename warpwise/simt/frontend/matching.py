"""``match`` in a kernel, rewritten as ifs before anything else looks at the kernel.

Literals, alternatives, names and guards are supported."""

from __future__ import annotations

import ast
from typing import TypeVar

Made = TypeVar("Made", bound=ast.AST)


def without_match(tree: ast.FunctionDef) -> ast.FunctionDef:
    """Rewrite each supported match of a function as if and elif; others stay, to be refused."""
    has_match = any(isinstance(n, ast.Match) for n in ast.walk(tree))
    return _Rewriter().visit(tree) if has_match else tree


class _Unknown(Exception):
    """A pattern that is more than a number, a name or alternatives of them."""


class _Rewriter(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match) -> ast.Match | list[ast.stmt]:
        self.generic_visit(node)
        name = f"match {node.lineno}:{node.col_offset}"
        try:
            chain: list[ast.stmt] = []
            for case in reversed(node.cases):
                chain = _branch(case, name, chain)
        except _Unknown:
            return node
        return [_bind(name, node.subject, node), *chain]


def _bind(name: str, value: ast.expr, place: ast.AST) -> ast.Assign:
    return _at(ast.Assign([_at(ast.Name(name, ast.Store()), place)], value), place)


def _branch(case: ast.match_case, name: str, rest: list[ast.stmt]) -> list[ast.stmt]:
    test, binds = _test(case.pattern, name)
    guard = case.guard
    if binds:  # the name has its value before the guard looks at it
        return [*binds, *([_if(guard, case.body, rest, guard)] if guard else case.body)]
    if guard is not None:
        test = guard if test is None else _at(ast.BoolOp(ast.And(), [test, guard]), guard)
    return case.body if test is None else [_if(test, case.body, rest, case.pattern)]


def _if(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], place: ast.AST) -> ast.If:
    return _at(ast.If(test, body, orelse), place)


def _test(pattern: ast.pattern, name: str) -> tuple[ast.expr | None, list[ast.stmt]]:
    """Return the condition under which a pattern fits (None: always), and its assignments."""
    subject = _at(ast.Name(name, ast.Load()), pattern)
    match pattern:
        case ast.MatchValue(value=value):
            return _at(ast.Compare(subject, [ast.Eq()], [value]), pattern), []
        case ast.MatchSingleton(value=bool() as value):
            constant = _at(ast.Constant(value), pattern)
            return _at(ast.Compare(subject, [ast.Eq()], [constant]), pattern), []
        case ast.MatchAs(pattern=None, name=None):
            return None, []
        case ast.MatchAs(pattern=None, name=str() as bound):
            return None, [_bind(bound, subject, pattern)]
        case ast.MatchOr(patterns=patterns):
            tests = [_test(p, name) for p in patterns]
            if any(binds for _, binds in tests):
                raise _Unknown
            known = [test for test, _ in tests if test is not None]
            if len(known) < len(tests):
                return None, []
            return _at(ast.BoolOp(ast.Or(), known), pattern), []
    raise _Unknown


def _at(node: Made, place: ast.AST) -> Made:
    return ast.copy_location(node, place)
