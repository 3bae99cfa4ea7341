"""CUDA's vector types: ``cuda.float32x4(x, y, z, w)``, also called ``cuda.float4``.

A kernel makes them, passes them and reads their parts. Numba defines no arithmetic on them and no
arrays of them; their parts cannot be assigned to."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler.arguments import is_starred
from warpwise.simt.compiler.closures import Code, Number, converted
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.value_types import VectorType
from warpwise.simt.types import is_complex, is_scalar

PARTS = "xyzw"
_SIZES = (1, 2, 3, 4)
_ALIASES = {
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "longlong": "int64",
    "uchar": "uint8",
    "ushort": "uint16",
    "uint": "uint32",
    "ulong": "uint64",
    "ulonglong": "uint64",
    "float": "float32",
    "double": "float64",
}
_NUMBERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
_NAMED = {f"{t}x": t for t in _NUMBERS.split()} | _ALIASES
#: Names below ``cuda``, ``float32x4`` or as in CUDA C++ ``float4`` -> the type that each makes.
VECTORS = {f"{name}{n}": VectorType(np.dtype(t), n) for name, t in _NAMED.items() for n in _SIZES}


def vector(c: Context, node: ast.Call, name: str) -> Code:
    """Compile ``cuda.float4(x, y, z, w)``, made of numbers and of smaller vectors."""
    t = VECTORS[name]
    complete = f"{ast.unparse(node.func)}({', '.join(PARTS[: t.size])})"
    if node.keywords or is_starred(node):
        c.refuse(node, f"{name} takes {t.size} plain numbers", complete)
    parts = [part for argument in node.args for part in _numbers_of(c, argument)]
    if len(parts) != t.size:
        made_of = f"{name} is made of {t.size} number{'s' * (t.size != 1)}"
        c.refuse(node, f"{ast.unparse(node)}: {made_of}, not {len(parts)}", complete)
    runs = [converted(part, t.dtype).run for part in parts]
    c.cost.add("conversion", sum(part.type != t.dtype for part in parts))
    return Code(lambda f, m: tuple(run(f, m) for run in runs), t)


def _numbers_of(c: Context, node: ast.expr) -> list[Number]:
    """Compile a number, or the numbers of another vector."""
    code = c.expression(node)
    if isinstance(code.type, VectorType):
        return [_part(code, code.type, i) for i in range(code.type.size)]
    if not is_scalar(code.type) or is_complex(code.type):
        what = f"{ast.unparse(node)} is {types.described(code.type)}"
        raise types.TypeMismatch(f"{what}, and a vector is made of numbers")
    return [c.number(node, code)]


def vector_part(c: Context, node: ast.Attribute, base: Code, t: VectorType) -> Number:
    """Compile ``v.x``."""
    i = PARTS[: t.size].find(node.attr)
    if i < 0 or len(node.attr) != 1:
        known = ", ".join(f".{part}" for part in PARTS[: t.size])
        what = f"{ast.unparse(node)}: a {t} has no {node.attr!r}"
        c.refuse(node, what, f"it has {known}")
    return _part(base, t, i)


def _part(base: Code, t: VectorType, i: int) -> Number:
    run = base.run
    return Number(lambda f, m: run(f, m)[i], t.dtype)
