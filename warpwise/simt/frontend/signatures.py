"""Signatures of ``@cuda.jit("void(float32[:], float32)")``: read, never run.

They are strings, Numba's types, tuples of types, or a list of them; each may stand in the
decorator or be a name's value. With one, Numba compiles a function when it is decorated, and for
these types only: numbers are converted to them, and no other arrays are taken. What is neither
array nor number (records, pointers) is left unchanged."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from warpwise.simt.frontend.names import TYPE_NAMES, CudaName, has_own, resolve
from warpwise.simt.types import NONE, ArrayType, DType, NoneType, TupleType, Type

MOST_ITEMS = 1024  # of a UniTuple
VOID = ("void", "none")
#: Types of Numba that are neither numbers nor arrays: their parameters take anything.
OTHERS = (
    "CPointer Dummy EnumMember IntEnumMember NPDatetime NPTimedelta Opaque Record StarArgTuple "
    "bfloat16 omitted optional pyobject string unicode_type voidptr"
).split()
Meaning = Callable[[str], object]  #: the value of a name, or its syntax; KeyError if unknown


@dataclass(frozen=True)
class Parameter:
    """The type of a parameter: a number, or an array of ``ndim`` dimensions.

    ``layout``: "C" and "F" for arrays without gaps, by rows and by columns, "A" for any."""

    dtype: DType
    ndim: int = 0
    layout: str = "A"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if not self.ndim:
            return str(self.dtype)
        axes = [":"] * self.ndim
        if self.layout != "A":
            axes[-1 if self.layout == "C" else 0] = "::1"
        return f"{self.dtype}[{', '.join(axes)}]"


#: A parameter's type: a tuple's is that of its items, and None takes anything.
Kind: TypeAlias = "Parameter | tuple[Kind, ...] | None"


@dataclass(frozen=True)
class Signature:
    """The types of a function's parameters, and of its result.

    ``result``: None where the function's text decides, ``NONE`` for void."""

    arguments: tuple[Kind, ...]
    result: Kind | NoneType = None

    def __str__(self) -> str:
        return f"({', '.join(map(written, self.arguments))})"


class BadSignature(Exception):
    """A signature that Numba refuses; its text says why."""


def written(kind: Kind) -> str:
    """Return a type as a signature writes it."""
    if isinstance(kind, tuple):
        return f"Tuple(({', '.join(map(written, kind))}))"
    return str(kind or "...")


def type_of(kind: Kind) -> Type | None:
    """Return the type that a kernel is compiled for; None where that is not known."""
    if isinstance(kind, tuple):
        items = [t for t in map(type_of, kind) if t is not None]
        return TupleType(tuple(items)) if len(items) == len(kind) else None
    if kind is None:
        return None
    if not kind.ndim:
        return kind.dtype
    return ArrayType(kind.dtype, kind.ndim, "global")


def types_of(signature: Signature) -> tuple[Type, ...] | None:
    """Return the types of all parameters; None where one takes anything."""
    found = tuple(t for t in map(type_of, signature.arguments) if t is not None)
    return found if len(found) == len(signature.arguments) else None


# --- values: what cuda.jit is called with ---


def is_signature(value: object) -> bool:
    """Return True for a value that Numba takes as one signature."""
    return isinstance(value, (str, tuple)) or _is_numbas(value)


def _is_numbas(value: object) -> bool:
    return has_own(value, "args", "return_type")


def signatures_of(value: Any) -> tuple[Signature, ...]:
    """Return the signatures that a value stands for: one, or a list of them.

    Raises BadSignature."""
    return tuple(map(_of_value, value if isinstance(value, list) else [value]))


def _of_value(value: Any) -> Signature:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, tuple):
        return Signature(tuple(map(kind_of, value)))
    if not _is_numbas(value):
        raise BadSignature(f"{value!r} is no signature")
    result = value.return_type
    kinds = tuple(map(kind_of, value.args))
    return Signature(kinds, None if result is None else _result_of(result))


def _result_of(value: Any) -> Kind | NoneType:
    return NONE if str(value) in VOID else kind_of(value)


def kind_of(value: Any) -> Kind:
    """Return the kind of one of Numba's types.

    Raises BadSignature for anything else."""
    if isinstance(value, CudaName) and isinstance(found := resolve(value), type):
        return Parameter(np.dtype(found))
    if isinstance(value, Parameter):
        return value
    if not any(base.__name__ == "Type" for base in type(value).__mro__):
        raise BadSignature(f"{value!r} is no type of Numba")
    if has_own(value, "layout", "ndim"):
        element = kind_of(value.dtype)
        if not isinstance(element, Parameter):
            return None
        return Parameter(element.dtype, value.ndim, value.layout) if value.ndim else None
    if has_own(value, "types", "count"):
        return tuple(map(kind_of, value.types))
    found = TYPE_NAMES.get(str(value))
    return Parameter(np.dtype(found)) if found else None


# --- syntax: strings, and text that is not run ---


def _of_text(text: str, meaning: Meaning | None = None) -> Signature:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadSignature(f"{text[:200]!r} cannot be read") from error
    return _of_syntax(node, meaning)


def signatures_in(node: ast.expr, meaning: Meaning) -> tuple[Signature, ...]:
    """Return the signatures that an expression of a text stands for.

    None for an expression that cannot be followed. ``meaning`` resolves names of the text. Raises
    BadSignature."""
    node = _followed(node, meaning)
    items = node.elts if isinstance(node, ast.List) else [node]
    found = [_written_as(_followed(item, meaning), meaning) for item in items]
    known = tuple(signature for signature in found if signature is not None)
    return known if len(known) == len(found) else ()


def _written_as(node: ast.expr, meaning: Meaning) -> Signature | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _of_text(node.value)
    return _of_syntax(node, meaning) if isinstance(node, (ast.Call, ast.Tuple)) else None


def _followed(node: ast.expr, meaning: Meaning) -> ast.expr:
    """Return what a name of the text was bound to, if it is that of a signature."""
    for _ in range(10):
        if not isinstance(node, ast.Name):
            break
        try:
            value = meaning(node.id)
        except KeyError:
            break
        if isinstance(value, str):
            return ast.Constant(value)
        if not isinstance(value, ast.expr):
            break
        node = value
    return node


def _of_syntax(node: ast.expr, meaning: Meaning | None) -> Signature:
    if isinstance(node, ast.Tuple):
        return Signature(_kinds(node.elts, meaning))
    if isinstance(node, ast.Call):
        is_void = _name(node.func) in VOID
        result = NONE if is_void else _kind(node.func, meaning)
        return Signature(_kinds(node.args, meaning), result)
    raise BadSignature(f"{ast.unparse(node)} is a type, and a signature is void(...) or a tuple")


def _kinds(nodes: Iterable[ast.expr], meaning: Meaning | None) -> tuple[Kind, ...]:
    return tuple(_kind(node, meaning) for node in nodes)


def _kind(node: ast.expr, meaning: Meaning | None) -> Kind:
    """Read ``float32``, ``numba.float32``, ``f4[:, ::1]``, ``UniTuple(f4, 2)``."""
    match node:
        case ast.Subscript(value=value, slice=index):
            return _array(node, value, index, meaning)
        case ast.Call(func=func, args=arguments):
            return _made(_name(func), arguments, meaning)
        case ast.Name() | ast.Attribute():
            return _named(node, meaning)
    raise BadSignature(f"{ast.unparse(node)} is no type")


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _array(node: ast.expr, value: ast.expr, index: ast.expr, meaning: Meaning | None) -> Kind:
    axes = index.elts if isinstance(index, ast.Tuple) else [index]
    element = _kind(value, meaning)
    slices = [axis for axis in axes if isinstance(axis, ast.Slice)]
    if len(slices) < len(axes):
        raise BadSignature(f"{ast.unparse(node)} is no type: arrays are written float32[:, :]")
    if not isinstance(element, Parameter):
        return None
    layout = "C" if slices[-1].step else "F" if slices[0].step else "A"
    return Parameter(element.dtype, len(slices), layout)


def _made(name: str, arguments: list[ast.expr], meaning: Meaning | None) -> Kind:
    """Read the calls that make types."""
    match name, arguments:
        case "Tuple", [ast.Tuple(elts=items) | ast.List(elts=items)]:
            return _kinds(items, meaning)
        case "UniTuple", [item, ast.Constant(value=int(count))]:
            kind = _kind(item, meaning)
            if not 0 <= count * _size(kind) <= MOST_ITEMS:
                raise BadSignature(f"a tuple has at most {MOST_ITEMS:,} items here")
            return (kind,) * count
        case "Array", [item, ast.Constant(value=int(ndim)), ast.Constant(value=str(layout)), *_]:
            element = _kind(item, meaning)
            if isinstance(element, Parameter):
                return Parameter(element.dtype, ndim, layout)
    return None


def _size(kind: Kind) -> int:
    return max(1, sum(map(_size, kind))) if isinstance(kind, tuple) else 1


def _named(node: ast.expr, meaning: Meaning | None) -> Kind:
    name, value = _name(node), None
    if isinstance(node, ast.Name) and meaning is not None:
        try:
            value = meaning(name)
        except KeyError:
            value = None
    if isinstance(value, ast.expr) and not isinstance(value, ast.Name):
        return _kind(value, None)
    if isinstance(value, type) and issubclass(value, np.generic):
        return Parameter(np.dtype(value))
    if name in TYPE_NAMES:
        return Parameter(np.dtype(TYPE_NAMES[name]))
    return None if value is not None or _is_other(name) else _refuse(name)


def _is_other(name: str) -> bool:
    """True for the name of a type of Numba that is no number, as far as that can be told."""
    known = sys.modules.get("numba.core.types") or sys.modules.get("numba.cuda.types")
    vector = name[-2:] in ("x2", "x3", "x4")
    return vector or name in OTHERS or hasattr(known, name)


def _refuse(name: str) -> NoReturn:
    near = difflib.get_close_matches(name[:40], TYPE_NAMES, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise BadSignature(f"{name} is no type of Numba{meant}")
