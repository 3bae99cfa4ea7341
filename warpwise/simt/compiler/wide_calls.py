"""Accesses of 16 bytes: ``load4`` and ``store4`` of ``warpwise.kernels.wide``.

On a GPU each is one instruction. They are executed in ``machine.wide``."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler.arguments import exactly, whole_number
from warpwise.simt.compiler.closures import Code, converted
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine import wide
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import NONE, ArrayType, DType, TupleType, Value

WORDS_OF_4_BYTES = tuple(map(np.dtype, ("int32", "uint32", "float32")))


def load4(c: Context, node: ast.Call) -> Code:
    array, index = exactly(c, node, "array", "index")
    code, dtype = array_of(c, node, array, "global", "shared")
    at, site = whole_number(c, index, "an index"), c.site(node)
    c.cost.add("memory")

    def run(frame: Frame, mask: Mask) -> Value:
        place = at.run(frame, mask)
        return wide.load(frame.batch.memory, code.run(frame, mask), place, mask, site)

    return Code(run, TupleType((dtype,) * wide.ITEMS))


def store4(c: Context, node: ast.Call) -> Code:
    array, index, *values = exactly(c, node, "array", "index", *"abcd")
    code, dtype = array_of(c, node, array, "global", "shared")
    at, site = whole_number(c, index, "an index"), c.site(node)
    runs = [converted(c.scalar(value), dtype).run for value in values]
    c.cost.add("memory")

    def run(frame: Frame, mask: Mask) -> None:
        place, put = at.run(frame, mask), tuple(run(frame, mask) for run in runs)
        wide.store(frame.batch.memory, code.run(frame, mask), place, put, mask, site)

    return Code(run, NONE)


def array_of(
    c: Context,
    node: ast.Call,
    array: ast.expr,
    *spaces: str,
    dtypes: tuple[DType, ...] = (),
    elsewhere: str = "name the elements one by one",
) -> tuple[Code, DType]:
    """Compile a one-dimensional array of 4-byte numbers; anything else is refused.

    ``elsewhere``: what to try if it is in none of the ``spaces``."""
    code, wanted = c.expression(array), dtypes or WORDS_OF_4_BYTES
    t, name = code.type, ast.unparse(node.func)
    fits = isinstance(t, ArrayType) and t.ndim == 1 and t.space in spaces and t.dtype in wanted
    if isinstance(t, ArrayType) and fits:
        return code, t.dtype
    kinds = f"{' or '.join(spaces)} array of {', '.join(map(str, wanted))} in one dimension"
    what = f"{name} takes a {kinds}, and {ast.unparse(array)} is {types.described(t)}"
    flat = isinstance(t, ArrayType) and t.ndim > 1
    try_this = "name the elements one by one"
    if flat:
        try_this = f"pass a flat array: {ast.unparse(array)}.reshape(-1)"
    elif isinstance(t, ArrayType) and t.space not in spaces:
        try_this = elsewhere
    c.refuse(array, what, try_this, KernelTypeError)
