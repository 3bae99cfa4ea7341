"""``match`` in a kernel, as ifs: literals, alternatives, names and guards; rewritten before anything else looks at the kernel."""

from __future__ import annotations

import ast


def without_match(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The same function with each match that kernels know written as if and elif; others are left, to be refused by line."""
    return _Rewriter().visit(tree) if any(isinstance(n, ast.Match) for n in ast.walk(tree)) else tree


class _Unknown(Exception):
    """A pattern that is more than a number, a name or alternatives of them."""


class _Rewriter(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match):
        self.generic_visit(node)
        name = f"match {node.lineno}:{node.col_offset}"
        try:
            chain: list[ast.stmt] = []
            for case in reversed(node.cases):
                chain = _branch(case, name, chain)
        except _Unknown:
            return node
        subject = ast.copy_location(ast.Assign([_at(ast.Name(name, ast.Store()), node)], node.subject), node)
        return [subject, *chain]


def _branch(case: ast.match_case, name: str, rest: list[ast.stmt]) -> list[ast.stmt]:
    test, binds = _test(case.pattern, name)
    if binds:  # the name has its value before the guard looks at it
        taken = [*binds, *([_if(case.guard, case.body, rest, case.guard)] if case.guard else case.body)]
        return taken
    if case.guard is not None:
        test = case.guard if test is None else _at(ast.BoolOp(ast.And(), [test, case.guard]), case.guard)
    return case.body if test is None else [_if(test, case.body, rest, case.pattern)]


def _if(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], place: ast.AST) -> ast.If:
    return _at(ast.If(test, body, orelse), place)


def _test(pattern: ast.pattern, name: str) -> tuple[ast.expr | None, list[ast.stmt]]:
    """The condition under which a pattern fits (None: always), and the assignments that it makes."""
    subject = _at(ast.Name(name, ast.Load()), pattern)
    match pattern:
        case ast.MatchValue(value=value):
            return _at(ast.Compare(subject, [ast.Eq()], [value]), pattern), []
        case ast.MatchSingleton(value=bool() as value):
            return _at(ast.Compare(subject, [ast.Eq()], [_at(ast.Constant(value), pattern)]), pattern), []
        case ast.MatchAs(pattern=None, name=None):
            return None, []
        case ast.MatchAs(pattern=None, name=str() as bound):
            return None, [_at(ast.Assign([_at(ast.Name(bound, ast.Store()), pattern)], subject), pattern)]
        case ast.MatchOr(patterns=patterns):
            tests = [_test(p, name) for p in patterns]
            if any(binds for _, binds in tests):
                raise _Unknown
            if any(test is None for test, _ in tests):
                return None, []
            return _at(ast.BoolOp(ast.Or(), [test for test, _ in tests]), pattern), []
    raise _Unknown


def _at(node, place: ast.AST):
    return ast.copy_location(node, place)
