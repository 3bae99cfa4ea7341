"""Device functions written as lambdas, read as functions with a return.

``square = cuda.jit(device=True)(lambda v: v * v)``. Python keeps the line where a lambda begins,
and the columns that each of its instructions was compiled from: so the right one is found where
several share a line. An interpreter that keeps no columns (``-X no_debug_ranges``) needs one lambda
a line."""

from __future__ import annotations

import ast
import inspect
from types import CodeType, FunctionType
from typing import Any

from warpwise.errors import UnsupportedError

Place = tuple[int, int]  #: line and column
Span = tuple[Place, Place]  #: the start and the end of a piece of text


def is_lambda(function: FunctionType) -> bool:
    return function.__code__.co_name == "<lambda>"


def read_lambda(function: FunctionType) -> tuple[ast.FunctionDef, dict[int, str]] | None:
    """Read a lambda as a function with a return, and its lines; None if it is not found.

    Raises OSError without a text."""
    text, _ = inspect.findsource(function)
    try:
        module = ast.parse("".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = _found(module, function.__code__)
    if found is None:
        return None
    lines = {n: text[n - 1].rstrip("\n") for n in range(found.lineno, _end(found)[0] + 1)}
    return as_function(found, _name(module, found)), lines


def as_function(node: ast.Lambda, name: str) -> ast.FunctionDef:
    body = ast.copy_location(ast.Return(node.body), node.body)
    newer: dict[str, Any] = {"type_params": []}  # a field since Python 3.12
    return ast.copy_location(ast.FunctionDef(name, node.args, [body], [], **newer), node)


def decorated(node: ast.Assign) -> tuple[str, ast.Lambda | ast.Name, ast.expr] | None:
    """Return the name, the function of its assignment, and what decorates it.

    For ``f = jit(device=True)(lambda ...)`` and ``f = jit(lambda ..., device=True)``, where a name
    can stand for the function. What decorates it never has the function among its arguments."""
    call, target = node.value, node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Name):
        return None
    if not isinstance(call, ast.Call):
        return None
    if len(call.args) != 1 or not isinstance(call.args[0], (ast.Lambda, ast.Name)):
        return None
    jit = call.func if isinstance(call.func, ast.Call) else ast.Call(call.func, [], call.keywords)
    return target.id, call.args[0], jit


def _found(module: ast.Module, code: CodeType) -> ast.Lambda | None:
    """Find the lambda whose body has the code's instructions.

    Of lambdas within lambdas, that is the smallest that has most of them."""
    lambdas = [n for n in ast.walk(module) if isinstance(n, ast.Lambda)]
    at, spans = [n for n in lambdas if n.lineno == code.co_firstlineno], _spans(code)
    if len(at) > 1 and not spans:
        several = f"line {code.co_firstlineno} has several lambdas"
        what = f"{several}, and which of them is meant cannot be told"
        raise UnsupportedError(what, try_this="one lambda a line, or def")
    return min(at, key=lambda node: (-_count(spans, node.body), _size(node.body)), default=None)


def _spans(code: CodeType) -> list[Span]:
    """Return the text spans of the instructions; those that come from no text have no width."""
    spans: list[Span] = []
    for line, end, column, stop in code.co_positions():
        if line is None or end is None or column is None or stop is None:
            continue
        if (line, column) != (end, stop):
            spans.append(((line, column), (end, stop)))
    return spans


def _count(spans: list[Span], node: ast.expr) -> int:
    begin, end = (node.lineno, node.col_offset), _end(node)
    return sum(begin <= first and last <= end for first, last in spans)


def _size(node: ast.expr) -> tuple[int, int]:
    line, column = _end(node)
    return line - node.lineno, column - node.col_offset


def _end(node: ast.expr) -> Place:
    """Return the end of an expression, which a parsed one always has."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _name(module: ast.Module, found: ast.Lambda) -> str:
    """Return the name that the lambda's result is assigned to, for messages."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        value = node.value if (call := decorated(node)) is None else call[1]
        if value is found and isinstance(node.targets[0], ast.Name):
            return node.targets[0].id
    return "lambda"
