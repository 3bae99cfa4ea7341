"""``cuda.atomic.*`` in a kernel's text: its types and costs; ``machine.atomics`` executes it."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler.arguments import is_starred
from warpwise.simt.compiler.closures import Number, cast_number, converted
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.subscripts import indices_of
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import ArrayType, DType, Type, Value

INTEGERS = tuple(np.dtype(name) for name in "int32 int64 uint32 uint64".split())
UNSIGNED = tuple(t for t in INTEGERS if t.kind == "u")
NUMBERS = (*INTEGERS, np.dtype(np.float32), np.dtype(np.float64))

#: Operation -> the element types that it takes (Numba's typing of ``cuda.atomic``).
ELEMENTS: dict[str, tuple[DType, ...]] = (
    dict.fromkeys(("add", "sub", "min", "max", "nanmin", "nanmax"), NUMBERS)
    | dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), INTEGERS)
    | dict.fromkeys(("inc", "dec"), UNSIGNED)
)
#: Operation -> its arguments.
ARGUMENTS = dict.fromkeys(ELEMENTS, "(array, index, value)") | {
    "cas": "(array, index, old, value)",
    "compare_and_swap": "(array, old, value)",
}


def atomic_call(c: Context, node: ast.Call, kind: str) -> Number:
    """Compile ``cuda.atomic.add(array, index, value)`` and its kin."""
    parts = _parts(c, node, kind)
    array = c.expression(parts[0])
    t = _checked(c, node, kind, array.type)
    without_index = kind == "compare_and_swap"
    index = ast.Constant(0) if without_index else parts[1]
    element = ast.copy_location(ast.Subscript(parts[0], index, ast.Load()), node)
    ast.fix_missing_locations(element)
    if isinstance(index, ast.Tuple) and len(index.elts) == 1:
        what = f"{ast.unparse(node)}: Numba's compiler takes no tuple of one index here"
        c.refuse(node, what, f"{ast.unparse(index.elts[0])} without the brackets and the comma")
    indices = indices_of(c, element, t, whole=False)
    dtype, site, wanted = t.dtype, c.site(node), node is not c.unused
    operands = parts[1 if without_index else 2 :]
    runs = [converted(c.scalar(operand), dtype).run for operand in operands]
    c.counts.atomics += 1
    c.cost.add("memory")
    if kind in ("add", "sub"):
        c.cost.flop(dtype)
    kind, memory = "cas" if without_index else kind, array.run

    def run(frame: Frame, mask: Mask) -> Value:
        places = [i(frame, mask) for i in indices]
        values = [run(frame, mask) for run in runs]
        return frame.batch.memory.atomic(
            kind, memory(frame, mask), places, values, wanted, mask, site
        )

    return cast_number(run, dtype)


def _parts(c: Context, node: ast.Call, kind: str) -> list[ast.expr]:
    form = ARGUMENTS[kind]
    name, count = ast.unparse(node.func), form.count(",") + 1
    if len(node.args) != count or node.keywords or is_starred(node):
        c.refuse(node, f"{name} takes {count} plain arguments", f"{name}{form}")
    return node.args


def _checked(c: Context, node: ast.Call, kind: str, t: Type) -> ArrayType:
    """Return the type of an array that has this operation; any other is refused."""
    text, name = ast.unparse(node.args[0]), ast.unparse(node.func)
    if not isinstance(t, ArrayType):
        what = f"{name} works on an element of an array, and {text} is {types.described(t)}"
        try_this = "pass the array and the index apart: cuda.atomic.add(array, i, value)"
        c.refuse(node, what, try_this, KernelTypeError)
    if t.space not in ("global", "shared"):
        where = "atomic operations work on global and shared memory"
        try_this = "only this thread sees its local memory: a plain operation will do"
        c.refuse(node, f"{text} is {t.space} memory, and {where}", try_this)
    if t.dtype not in ELEMENTS[kind]:
        what = f"{name} does not know elements of {t.dtype}"
        known = ", ".join(map(str, ELEMENTS[kind]))
        c.refuse(node, what, f"an array of {known}", KernelTypeError)
    if not t.ndim:
        what = f"{name} takes no array without dimensions"
        c.refuse(node, what, f"an array of one element: {text}.reshape(1)", KernelTypeError)
    if kind == "compare_and_swap" and t.ndim != 1:
        what = f"{name} takes an array of one dimension"
        c.refuse(node, what, "cuda.atomic.cas(array, index, old, value)", KernelTypeError)
    return t
