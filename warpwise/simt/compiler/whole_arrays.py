"""NumPy's functions of whole arrays, ``np.sin(x, out)``: loops over the elements.

As in Numba, the last argument takes the results, and each thread computes all of them."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.simt.compiler.context import Context
from warpwise.simt.types import ArrayType


def elementwise(c: Context, node: ast.Call) -> ast.stmt | None:
    """Return the loops of a NumPy function that is called with an array for its results.

    None for any other call. Arguments of fewer dimensions stand for each row."""
    function = c.static(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else None
    if not isinstance(function, np.ufunc) or node.keywords:
        return None
    names = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
    if not len(names) == len(node.args) == function.nin + 1:
        return None
    *given, out = (c.variables.env.get(name) for name in names)
    if not isinstance(out, ArrayType) or not out.ndim:
        return None
    if any(isinstance(t, ArrayType) and t.ndim > out.ndim for t in given):
        return None
    indices = [f"_{names[-1]}_{axis}" for axis in range(out.ndim)]
    parts: list[ast.expr] = [
        _element(name, indices[out.ndim - t.ndim :]) if isinstance(t, ArrayType) else _name(name)
        for name, t in zip(names, given, strict=False)
    ]
    target = _element(names[-1], indices)
    target.ctx = ast.Store()
    statement: ast.stmt = ast.Assign([target], ast.Call(node.func, parts, []))
    for axis in reversed(range(out.ndim)):
        shape = ast.Attribute(_name(names[-1]), "shape", ast.Load())
        steps = ast.Call(_name("range"), [_item(shape, ast.Constant(axis))], [])
        index = ast.Name(indices[axis], ast.Store())
        statement = ast.For(index, steps, [statement], [])
    for part in ast.walk(statement):
        if isinstance(part, (ast.expr, ast.stmt)):
            ast.copy_location(part, node)
    return statement


def _element(array: str, indices: list[str]) -> ast.Subscript:
    return _item(_name(array), ast.Tuple([_name(index) for index in indices], ast.Load()))


def _item(value: ast.expr, index: ast.expr) -> ast.Subscript:
    return ast.Subscript(value, index, ast.Load())


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
