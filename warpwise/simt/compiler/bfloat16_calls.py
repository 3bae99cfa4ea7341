"""``widen`` and ``narrow`` of ``warpwise.kernels.bfloat16``: numbers as memory keeps them.

NumPy has no bfloat16, so its bits are in arrays of uint16."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler.arguments import exactly
from warpwise.simt.compiler.closures import Number, converted
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import FLOAT32, ArrayType, Lanes, Type, Value

UINT16 = np.dtype(np.uint16)
STORED = (UINT16, FLOAT32)  #: what a number may be in memory
NAN = np.uint16(0x7FFF)  # every NaN, as PTX's cvt makes it


def widen(c: Context, node: ast.Call) -> Number:
    """Compile ``widen(number)``: a float32 is left as it is, and costs nothing."""
    (part,) = exactly(c, node, "number")
    code = c.scalar(part)
    _need_stored(c, node, part, code.type)
    if code.type == FLOAT32:
        return code
    run = code.run
    c.cost.add("conversion")

    def wide(frame: Frame, mask: Mask) -> Value:
        bits = np.asarray(run(frame, mask)).astype(np.uint32) << np.uint32(16)
        return types.cast(bits.view(FLOAT32)[()], FLOAT32)

    return Number(wide, FLOAT32)


def narrow(c: Context, node: ast.Call) -> Number:
    """Compile ``narrow(number, array)``: what ``array`` keeps of a float32."""
    part, array = exactly(c, node, "number", "array")
    code, t = converted(c.scalar(part), FLOAT32), c.expression(array).type
    _need_stored(c, node, array, t.dtype if isinstance(t, ArrayType) else t)
    if not isinstance(t, ArrayType) or t.dtype == FLOAT32:
        return code
    run = code.run
    c.cost.add("conversion")
    return Number(lambda f, m: types.cast(_rounded(np.asarray(run(f, m)))[()], UINT16), UINT16)


def _rounded(numbers: Lanes) -> Lanes:
    """Round to nearest, ties to even, and return the upper halves."""
    bits = numbers.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    found = ((bits + (np.uint32(0x7FFF) + odd)) >> np.uint32(16)).astype(UINT16)
    return np.where(numbers == numbers, found, NAN)


def _need_stored(c: Context, node: ast.Call, part: ast.expr, t: Type) -> None:
    if t not in STORED:
        what = f"{ast.unparse(node)}: {ast.unparse(part)} is {types.described(t)}"
        try_this = "float32, or bfloat16 as uint16: to_bfloat16 makes it on the host"
        c.refuse(part, what, try_this, KernelTypeError)
