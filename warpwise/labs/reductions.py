"""Other ways to reduce an array: for each row or column by itself, or by magnitude.

They are small changes, as those of ``other_expressions``, and most mistakes with ``max`` and
``sum`` of NumPy are one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

ALONG = {"max", "min", "sum", "mean", "prod", "any", "all", "argmax", "argmin"}
BY_SIZE = {"max", "min", "argmax", "argmin"}
AXES = (1, 0)
RANK = 2
OVER_ALL = "{} is one number for the whole array: is one for each row or column due (axis=...)?"


def reduced(node: ast.Call) -> Iterator[tuple[ast.expr, str, int]]:
    """Yield calls in the place of a reduction such as ``x.max()`` or ``np.max(x)``."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("np"), name), [array]):
            pass
        case ast.Call(ast.Attribute(array, name), []):
            pass
        case _:
            return
    if name in BY_SIZE:
        yield _of(node, _magnitudes(array)), f"{name}: of the values, or of their magnitudes?", RANK
    if name in ALONG and not node.keywords:
        for axis in AXES:
            for kept in (True, False):
                made = ast.Call(node.func, node.args, _along(axis, kept))
                yield made, f"{name}: over all elements, or for each row or column by itself?", RANK


def over_all(tree: ast.AST) -> str:
    """Ask about the first reduction of a whole array in a text; "" if there is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any("each row" in asked for _, asked, _ in reduced(node)):
            return OVER_ALL.format(ast.unparse(node))
    return ""


def _of(node: ast.Call, array: ast.expr) -> ast.Call:
    """The same reduction of another array."""
    if node.args:
        return ast.Call(node.func, [array], node.keywords)
    assert isinstance(node.func, ast.Attribute)
    return ast.Call(ast.Attribute(array, node.func.attr, ast.Load()), [], node.keywords)


def _magnitudes(array: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "abs", ast.Load()), [array], [])


def _along(axis: int, kept: bool) -> list[ast.keyword]:
    """``axis=1``, with ``keepdims=True`` if the axis is kept as one of length 1."""
    axes = [ast.keyword("axis", ast.Constant(axis))]
    return [*axes, ast.keyword("keepdims", ast.Constant(True))] if kept else axes
