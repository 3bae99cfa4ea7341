"""Loads and stores that say how to use the caches: ``cuda.ldcs(array, index)`` and its kin.

They are loads and stores of global memory like any other here: what they tell the caches changes no
value and no counter."""

from __future__ import annotations

import ast

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler.arguments import exactly
from warpwise.simt.compiler.closures import Code, Element
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.stores import assignment
from warpwise.simt.compiler.subscripts import indices_of, read
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import NONE, ArrayType

#: CUDA C++ Programming Guide, "Load Functions Using Cache Hints"; ``written`` has the stores
LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")


def cached_load(c: Context, node: ast.Call) -> Code:
    array, index = exactly(c, node, "array", "index")
    code = c.expression(array)
    t = _checked(c, node, code)
    indices = indices_of(c, _element(node, array, index), t)
    return read(c, node, Element(t.dtype, t.space, code.run, indices))


def cached_store(c: Context, node: ast.Call) -> Code:
    array, index, value = exactly(c, node, "array", "index", "value")
    _checked(c, node, c.apart(lambda: c.expression(array), node)[0])
    given = c.scalar(value)
    put, run = assignment(c, _element(node, array, index), given.type), given.run

    def store(frame: Frame, mask: Mask) -> None:
        put(frame, run(frame, mask), mask)

    return Code(store, NONE)


def _element(node: ast.Call, array: ast.expr, index: ast.expr) -> ast.Subscript:
    element = ast.copy_location(ast.Subscript(array, index, ast.Load()), node)
    return ast.fix_missing_locations(element)


def _checked(c: Context, node: ast.Call, code: Code) -> ArrayType:
    """Return the type of a global array of real numbers; anything else is refused."""
    t, name = code.type, ast.unparse(node.func)
    if isinstance(t, ArrayType) and t.space == "global" and t.dtype in types.SCALARS[1:]:
        return t
    what = f"{name} takes an array in global memory, of integers or floats, and no {t}"
    c.refuse(node, what, "square brackets", KernelTypeError)
