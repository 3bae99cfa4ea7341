"""Attributes of values in a kernel, and the methods of arrays.

``a.shape``, ``a.T``, ``z.real``, ``rec.x``, ``v.w``, ``point.y``; ``a.reshape(2, 3)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from warpwise.errors import KernelTypeError, UndefinedNameError
from warpwise.simt import types
from warpwise.simt.compiler import enumerations
from warpwise.simt.compiler.arguments import NO_COMPLEX
from warpwise.simt.compiler.array_calls import dtype_of, element_type
from warpwise.simt.compiler.closures import (
    Code,
    Element,
    Number,
    Run,
    cast_number,
    constant_code,
)
from warpwise.simt.compiler.complex_numbers import part_of_number
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.names import known_value, static_code
from warpwise.simt.compiler.spelling import meant
from warpwise.simt.compiler.stores import filling
from warpwise.simt.compiler.subscripts import MOST_AXES, field, read
from warpwise.simt.compiler.value_types import KnownType, VectorType
from warpwise.simt.compiler.vectors import vector_part
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.derived_views import part_of, reshaped, retyped, transposed
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.structured_records import RecordType
from warpwise.simt.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT64,
    ArrayType,
    DType,
    EnumType,
    TupleType,
    Type,
    Value,
    is_complex,
    is_integer,
    is_scalar,
)


def attribute(c: Context, node: ast.Attribute) -> Code:
    value = c.static(node)
    if value is not NotImplemented:
        return static_code(c, node, value)
    found = _of_value(c, node)
    return read(c, node, found) if isinstance(found, Element) else found


def _of_value(c: Context, node: ast.Attribute) -> Element | Code:
    """Compile an attribute; a field of a record is an element of memory."""
    base = c.expression(node.value)
    run, t = base.run, base.type
    if isinstance(t, RecordType):
        return field(c, node, base.run, t, node.attr)
    if isinstance(t, ArrayType):
        is_field = node.attr in (t.dtype.names or ())
        return field(c, node, run, t, node.attr) if is_field else _of_array(c, node, run, t)
    if isinstance(t, EnumType) and node.attr == "value":
        return enumerations.value_of(base, t)
    if isinstance(t, KnownType):
        return static_code(c, node, c.names.member(node, t.value))
    if isinstance(t, VectorType):
        return vector_part(c, node, base, t)
    if isinstance(t, TupleType) and node.attr in t.names:
        i = t.names.index(node.attr)
        return Code(lambda f, m: run(f, m)[i], t.items[i])
    if is_scalar(t) and node.attr in ("real", "imag"):
        return part_of_number(c.number(node.value, base), node.attr)
    owner = f"{ast.unparse(node.value)} is {types.described(t)}"
    what = f"{ast.unparse(node)}: {owner} and has no attribute {node.attr!r}"
    c.refuse(node, what, _instead(node, t))


def _of_array(c: Context, node: ast.Attribute, run: Run, t: ArrayType) -> Code:
    known = c.language.attributes.get(node.attr)
    if known is not None:
        return known(run, t)
    if node.attr in ("real", "imag") and is_complex(t.dtype):
        return _part(run, t, node.attr)
    _refuse_of_array(c, node)


# --- attributes of arrays ---


def size(run: Run, t: ArrayType) -> Code:
    return Code(lambda f, m: run(f, m).size, INT64)


def shape(run: Run, t: ArrayType) -> Code:
    return Code(lambda f, m: run(f, m).shape, _sizes(t))


def ndim(run: Run, t: ArrayType) -> Code:
    return constant_code(t.ndim)


def itemsize(run: Run, t: ArrayType) -> Code:
    return constant_code(t.dtype.itemsize)


def nbytes(run: Run, t: ArrayType) -> Code:
    return Code(lambda f, m: run(f, m).size * t.dtype.itemsize, INT64)


def strides(run: Run, t: ArrayType) -> Code:
    return Code(lambda f, m: _strides(run(f, m)), _sizes(t))


def dtype(run: Run, t: ArrayType) -> Code:
    """Compile ``a.dtype``, with which a kernel makes arrays and casts numbers."""
    return known_value(t.dtype)


def transpose_of(run: Run, t: ArrayType) -> Code:
    return Code(lambda f, m: transposed(run(f, m)), t)


def _sizes(t: ArrayType) -> TupleType:
    return TupleType((INT64,) * t.ndim)


def _strides(array: Value) -> tuple[int, ...]:
    return tuple(n * array.step for n in array.strides)


def _part(run: Run, t: ArrayType, name: str) -> Code:
    """Compile ``a.real`` and ``a.imag`` of an array of complex numbers."""
    part = np.dtype(f"f{t.dtype.itemsize // 2}")
    offset = part.itemsize * (name == "imag")
    whole = ArrayType(part, t.ndim, t.space)
    return Code(lambda f, m: part_of(run(f, m), name, part, offset), whole)


def _refuse_of_array(c: Context, node: ast.Attribute) -> NoReturn:
    array, text = ast.unparse(node.value), ast.unparse(node)
    if node.attr == "flat":
        try_this = f"{text}[i], for i in range({array}.size)"
        c.refuse(node, f"{text} needs an index in a kernel", try_this)
    near = meant(node.attr, c.language.attributes)
    if near:
        what = f"{text} is not defined; did you mean {array}.{near}?"
        c.refuse(node, what, f"write {array}.{near}", UndefinedNameError)
    what = f"{text}: an array has no {node.attr!r} in a kernel"
    c.refuse(node, what, "shape, size, ndim, T, strides and nbytes can be read")


# --- methods ---


def method_call(c: Context, node: ast.Call) -> Code | None:
    """Compile ``a.reshape(2, 3)`` and the like; None if a kernel has no such method."""
    if not isinstance(node.func, ast.Attribute):
        return None
    dtype, name = dtype_of(c, node.func.value), node.func.attr
    is_cast = name == "type" and len(node.args) == 1
    if is_cast and dtype is not None and dtype in types.SCALARS:
        return _cast_to(c, node, dtype)
    if name == "bit_count" and not node.args and not node.keywords:
        as_call = ast.copy_location(ast.Call(node.func, [node.func.value], []), node)
        return c.language.words["popc"](c, as_call)
    if node.keywords or (name != "conjugate" and name not in c.language.methods):
        return None
    base = c.expression(node.func.value)
    if is_scalar(base.type) and name == "view":
        return _bits(c, node, c.number(node.func.value, base))
    if is_scalar(base.type):
        is_conjugate = name == "conjugate" and not node.args
        return _conjugate(c.number(node.func.value, base)) if is_conjugate else None
    if name == "conjugate" or not isinstance(base.type, ArrayType):
        return None
    return c.language.methods[name](c, node, base.run, base.type)


def _cast_to(c: Context, node: ast.Call, dtype: DType) -> Number:
    """Compile ``a.dtype.type(x)``."""
    argument = c.scalar(node.args[0])
    if is_complex(argument.type):
        raise types.TypeMismatch("a complex number is no real one", NO_COMPLEX)
    c.cost.add("conversion", int(argument.type != dtype))
    return cast_number(argument.run, dtype)


def _bits(c: Context, node: ast.Call, base: Number) -> Number:
    """Compile ``v.view(np.int32)`` of a number: its bits as one of another type."""
    dtype, run, t = element_type(c, node.args[0]) if node.args else BOOL, base.run, base.type
    if len(node.args) != 1 or BOOL in (t, dtype) or is_complex(t) or is_complex(dtype):
        what = f"{ast.unparse(node)}: view takes the type of a real number"
        c.refuse(node, what, f"{ast.unparse(node.func)}(np.int{t.itemsize * 8})", KernelTypeError)
    if dtype not in types.SCALARS or dtype.itemsize != t.itemsize:
        what = f"{ast.unparse(node)}: a number of {t.itemsize} bytes is seen as {dtype}"
        c.refuse(node, what, _narrower(c, node, t, dtype), KernelTypeError)

    def bits(frame: Frame, mask: Mask) -> Value:
        return types.cast(np.asarray(run(frame, mask), t).view(dtype)[()], dtype)

    return Number(bits, dtype)


def _narrower(c: Context, node: ast.Call, t: DType, dtype: DType) -> str:
    """Say how a number gets as many bytes as it is to be seen with: it has often grown unseen."""
    same = f"a type of {t.itemsize} bytes"
    if not isinstance(node.func, ast.Attribute) or dtype.itemsize != FLOAT32.itemsize:
        return same
    element, side = ast.unparse(node.args[0]), ast.unparse(node.func.value)
    view = f".view({element})"
    if t == INT64:
        return f"np.int32({side}){view}: a sum of integers is an int64 in a kernel; or {same}"
    if t == FLOAT64 and (begins := c.notes.begin(c.variables.types_of)):
        return f"{begins}, where float64 begins; or {same}"
    if t == FLOAT64:
        return f"np.float32({side}){view}, or a float32 in all that it is made of; or {same}"
    return same


def _conjugate(base: Number) -> Number:
    if not is_complex(base.type):
        return base
    run = base.run
    return Number(lambda f, m: np.conjugate(run(f, m)), base.type)


def transpose(c: Context, node: ast.Call, run: Run, t: ArrayType) -> Code:
    if node.args:
        what = f"{ast.unparse(node)}: transpose takes no axes in a kernel"
        c.refuse(node, what, f"{ast.unparse(node.func)}(), or swap the indices")
    return transpose_of(run, t)


def reshape(c: Context, node: ast.Call, run: Run, t: ArrayType) -> Code:
    kinds, shape = _shape_given(c, node)
    if not kinds or len(kinds) > MOST_AXES or not all(map(is_integer, kinds)):
        what = f"{ast.unparse(node)}: a shape is made of integers"
        try_this = f"{ast.unparse(node.func)}(4, 8), or -1 for what is left over"
        c.refuse(node, what, try_this, KernelTypeError)
    site, of_array = c.site(node), ArrayType(t.dtype, len(kinds), t.space)
    return Code(lambda f, m: reshaped(run(f, m), shape(f, m), site), of_array)


def _shape_given(c: Context, node: ast.Call) -> tuple[Sequence[Type], Run]:
    """Compile the shape of ``a.reshape(2, 3)`` and of ``a.reshape((2, 3))``."""
    codes = [c.expression(argument) for argument in node.args]
    first = codes[0].type if len(codes) == 1 else None
    if isinstance(first, TupleType):
        return first.items, codes[0].run
    runs = [code.run for code in codes]

    def shape(frame: Frame, mask: Mask) -> Value:
        return tuple(run(frame, mask) for run in runs)

    return [code.type for code in codes], shape


def view(c: Context, node: ast.Call, run: Run, t: ArrayType) -> Code | None:
    if len(node.args) != 1 or t.dtype.names:
        return None
    dtype, site = element_type(c, node.args[0]), c.site(node)
    if dtype.names:
        what = f"{ast.unparse(node)}: an array cannot be seen as records here"
        c.refuse(node, what, "pass it to the kernel as an array of records")
    return Code(lambda f, m: retyped(run(f, m), dtype, site), ArrayType(dtype, t.ndim, t.space))


def fill(c: Context, node: ast.Call, run: Run, t: ArrayType) -> Code | None:
    """Compile ``a.fill(x)``, which is ``a[:] = x``."""
    if len(node.args) != 1 or not isinstance(node.func, ast.Attribute):
        return None
    value = c.scalar(node.args[0])
    put, given = filling(c, node.func.value, run, t, value.type), value.run
    return Code(lambda f, m: put(f, given(f, m), m), types.NONE)


def _instead(node: ast.Attribute, t: Type) -> str:
    text = ast.unparse(node.value)
    if is_scalar(t):
        return f"use {text} as it is"
    if isinstance(t, TupleType) and t.names:
        return f"it has {', '.join(t.names)}"
    return "take an item by its index: [0]"
