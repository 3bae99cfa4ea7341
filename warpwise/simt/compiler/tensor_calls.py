"""The instructions of ``warpwise.kernels.tensor_core``: products, fragments, asynchronous copies.

They are executed in ``machine.tensor`` and ``machine.copies``."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.metrics import WARP_SIZE
from warpwise.simt.compiler.arguments import exactly, whole_number
from warpwise.simt.compiler.closures import Code, Number, converted
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.wide_calls import array_of
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine import tensor, wide
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import BOOL, FLOAT32, NONE, TupleType, Value, is_integer

REGISTERS = ("a0", "a1", "a2", "a3", "b0", "b1", "c0", "c1", "c2", "c3")
UINT32 = np.dtype(np.uint32)
WORDS = (UINT32,)
_SHARED_FIRST = "the shared array comes first: cp_async16(shared, index, source, position)"


def mma(c: Context, node: ast.Call, kind: str) -> Code:
    """Compile ``mma_bf16(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)`` and ``mma_tf32(...)``."""
    parts, site = exactly(c, node, *REGISTERS), c.site(node)
    factor = _word if kind == tensor.BF16 else _number
    codes = [factor(c, node, part, name) for part, name in zip(parts[:6], REGISTERS, strict=False)]
    codes += [converted(c.scalar(part), FLOAT32) for part in parts[6:]]
    c.cost.product(2 * tensor.ROWS * tensor.COLUMNS * tensor.DEPTHS[kind] // WARP_SIZE)
    runs = [code.run for code in codes]

    def run(frame: Frame, mask: Mask) -> Value:
        values = [run(frame, mask) for run in runs]
        return frame.batch.mma(kind, values, mask, site)

    return Code(run, TupleType((FLOAT32,) * 4))


def _word(c: Context, node: ast.Call, part: ast.expr, register: str) -> Number:
    code, text = c.scalar(part), ast.unparse(part)
    if is_integer(code.type) and code.type != BOOL:
        return converted(code, UINT32)
    name = ast.unparse(node.func)
    what = f"{register} of {name} is a word with two bfloat16, and {text} is {code.type}"
    try_this = f"pack_bfloat16({text}, ...) makes a word of two neighbours; mma_tf32 takes float32"
    c.refuse(part, what, try_this, KernelTypeError)


def _number(c: Context, node: ast.Call, part: ast.expr, register: str) -> Number:
    code, text = c.scalar(part), ast.unparse(part)
    if code.type == FLOAT32:
        return code
    what = f"{register} of {ast.unparse(node.func)} is a float32, and {text} is {code.type}"
    words = "mma_bf16 multiplies words with two bfloat16"
    c.refuse(part, what, words if is_integer(code.type) else f"np.float32({text})", KernelTypeError)


def ldmatrix(c: Context, node: ast.Call, transposed: bool) -> Code:
    """Compile ``ldmatrix_x4(array, index)`` and ``ldmatrix_x4_trans(array, index)``."""
    array, index = exactly(c, node, "array", "index")
    code, dtype = array_of(c, node, array, "shared", dtypes=WORDS)
    at, site, word = whole_number(c, index, "an index"), c.site(node), ast.unparse(node.func)
    c.cost.add("memory")

    def run(frame: Frame, mask: Mask) -> Value:
        batch, place = frame.batch, at.run(frame, mask)
        tensor.need_whole_warps(mask, site, word)
        words = wide.load(batch.memory, code.run(frame, mask), place, mask, site)
        return tensor.matrices(words, mask, transposed)

    return Code(run, TupleType((dtype,) * 4))


def cp_async16(c: Context, node: ast.Call) -> Code:
    """Compile ``cp_async16(shared, index, source, position)``."""
    shared, index, source, position = exactly(c, node, "shared", "index", "source", "position")
    to, dtype = array_of(c, node, shared, "shared", elsewhere=_SHARED_FIRST)
    given, other = array_of(c, node, source, "global", elsewhere=_SHARED_FIRST)
    if dtype != other:
        texts = ast.unparse(shared), ast.unparse(source)
        what = f"{texts[0]} is of {dtype}, and {texts[1]} of {other}: a copy changes no type"
        c.refuse(node, what, f"{texts[1]}.view(np.{dtype})", KernelTypeError)
    at, begin, site = (
        whole_number(c, index, "an index"),
        whole_number(c, position, "an index"),
        c.site(node),
    )
    c.cost.add("memory")

    def run(frame: Frame, mask: Mask) -> None:
        target, place = to.run(frame, mask), at.run(frame, mask)
        read, there = given.run(frame, mask), begin.run(frame, mask)
        batch = frame.batch
        batch.copies.start(batch.memory, target, place, read, there, mask, site)

    return Code(run, NONE)


def commit(c: Context, node: ast.Call) -> Code:
    exactly(c, node)
    c.cost.add("control")
    return Code(lambda f, m: f.batch.copies.commit(m), NONE)


def wait(c: Context, node: ast.Call) -> Code:
    """Compile ``cp_async_wait(groups)``, whose argument the compiler has to know."""
    (groups,) = exactly(c, node, "groups")
    newest, site = c.constant(groups), c.site(node)
    if not isinstance(newest, int) or isinstance(newest, bool) or newest < 0:
        what = f"{ast.unparse(node)}: the groups that may still be on their way are a whole number"
        c.refuse(node, what, f"{ast.unparse(node.func)}(0), which waits for all", KernelTypeError)
    c.cost.add("control")
    return Code(lambda f, m: f.batch.copies.wait(newest, m, site), NONE)
