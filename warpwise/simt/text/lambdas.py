"""Device functions written as lambdas: ``square = cuda.jit(device=True)(lambda v: v * v)``, read as functions with a return.

Python keeps where a lambda begins, and of each of its instructions the columns it was compiled from: so the right one is found where
several share a line. An interpreter that was told to keep no columns (``-X no_debug_ranges``) needs one lambda a line.
"""

from __future__ import annotations

import ast
import inspect
from types import CodeType, FunctionType

from warpwise.errors import UnsupportedError

Span = tuple[tuple[int, int], tuple[int, int]]  #: (line, column) where a piece of text begins, and where it ends


def is_lambda(function: FunctionType) -> bool:
    return function.__code__.co_name == "<lambda>"


def read_lambda(function: FunctionType) -> tuple[ast.FunctionDef, dict[int, str]] | None:
    """A lambda as a function with a return, and the lines it stands on; None if it cannot be told. Raises OSError without a text."""
    text, _ = inspect.findsource(function)
    try:
        module = ast.parse("".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = _found(module, function.__code__)
    if found is None:
        return None
    lines = {n: text[n - 1].rstrip("\n") for n in range(found.lineno, found.end_lineno + 1)}
    return as_function(found, _name(module, found)), lines


def as_function(node: ast.Lambda, name: str) -> ast.FunctionDef:
    body = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(ast.FunctionDef(name, node.args, [body], [], type_params=[]), node)


def decorated(node: ast.Assign) -> tuple[ast.Lambda, ast.expr, list[ast.keyword]] | None:
    """For ``f = jit(device=True)(lambda ...)`` and ``f = jit(lambda ..., device=True)``: the lambda, what ``jit`` is, its options."""
    call = node.value
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name) or not isinstance(call, ast.Call):
        return None
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Lambda):
        return None
    if isinstance(call.func, ast.Call):
        return call.args[0], call.func.func, call.func.keywords
    return call.args[0], call.func, call.keywords


def _found(module: ast.Module, code: CodeType) -> ast.Lambda | None:
    """The lambda whose body has the code's instructions: of lambdas within lambdas, the smallest that has most of them."""
    at = [n for n in ast.walk(module) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno]
    spans = _spans(code)
    if len(at) > 1 and not spans:
        what = f"line {code.co_firstlineno} has several lambdas, and which of them is meant cannot be told"
        raise UnsupportedError(what, try_this="one lambda a line, or def")
    return min(at, key=lambda node: (-_count(spans, node.body), _size(node.body)), default=None)


def _spans(code: CodeType) -> list[Span]:
    """Where the instructions come from; those that come from no text have no width."""
    places = [(line, end, column, stop) for line, end, column, stop in code.co_positions() if None not in (line, end, column, stop)]
    return [((line, column), (end, stop)) for line, end, column, stop in places if (line, column) != (end, stop)]


def _count(spans: list[Span], node: ast.expr) -> int:
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return sum(begin <= first and last <= end for first, last in spans)


def _size(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


def _name(module: ast.Module, found: ast.Lambda) -> str:
    """The name that the lambda's result is assigned to, for messages."""
    for node in ast.walk(module):
        one = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        if one and (node.value is found or ((d := decorated(node)) is not None and d[0] is found)):
            return node.targets[0].id
    return "lambda"
