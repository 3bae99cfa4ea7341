"""Arrays and structured types that text builds from literals.

``TABLE = np.array([1, 2, 4])``, ``POINT = np.dtype([("x", np.float32)])``: only these calls are
known, with constants in them, and what they make is no larger than constant memory, as the text is
not trusted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn, TypeGuard

import numpy as np

from warpwise.simt.frontend.constants import Lookup, NotConstant, constant
from warpwise.simt.types import ELEMENTS, DType

MOST_ELEMENTS = 64 * 1024
MOST_FIELDS = 64
_SCALAR_TYPES = tuple(t.type for t in ELEMENTS)
MAKERS = (np.array, np.arange, np.zeros, np.ones, np.full, np.dtype)

Meaning = Callable[[ast.expr], object]  #: what an expression means; None if it is unknown


def is_scalar_type(value: object) -> TypeGuard[type[Any]]:
    """True for a type that an element of an array can have."""
    return isinstance(value, type) and value in _SCALAR_TYPES


def made(function: Any, node: ast.Call, meaning: Meaning, lookup: Lookup) -> np.ndarray | DType:
    """Return the value of a call of one of ``MAKERS``.

    ``meaning`` resolves a dotted name, ``lookup`` a plain one. Raises NotConstant."""
    if any(isinstance(a, ast.Starred) for a in node.args):
        raise NotConstant(ast.unparse(node))
    if any(k.arg not in ("dtype", "align") for k in node.keywords):
        raise NotConstant(ast.unparse(node))
    named = {k.arg: k.value for k in node.keywords if k.arg}
    if function is np.dtype:
        return _structure(node, named, meaning, lookup)
    count = {np.array: 1, np.arange: 3, np.zeros: 1, np.ones: 1, np.full: 2}[function]
    plain, rest = node.args[:count], node.args[count:]
    if function is np.arange and plain and is_scalar_type(meaning(plain[-1])):
        plain, rest = plain[:-1], plain[-1:]
    dtype = named.get("dtype", rest[0] if rest else None)
    element = None if dtype is None else _element(dtype, meaning)
    values = [_items(a, lookup) for a in plain]
    try:
        if _elements(function, values) > MOST_ELEMENTS:
            raise NotConstant(f"an array of more than {MOST_ELEMENTS:,} elements")
        array: np.ndarray = function(*values, dtype=element)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, IndexError) as error:
        raise NotConstant(str(error)) from error
    if element is None and array.dtype == np.intp:
        array = array.astype(
            np.int64, copy=False
        )  # what NumPy makes of integers on a GPU's machine
    if array.dtype not in ELEMENTS:
        raise NotConstant(ast.unparse(node))
    array.flags.writeable = False
    return array


def _elements(function: object, values: list[Any]) -> float:
    """Return an upper bound on the elements of an array."""
    if function is np.array:
        return 0  # as many as its text has
    if function is np.arange:
        ends = [*values, 0, 1][:3] if len(values) < 2 else [*values, 1][:3]
        return float(abs((ends[1] - ends[0]) / ends[2]))
    shape = values[0] if isinstance(values[0], tuple) else (values[0],)
    return float(np.prod([max(n, 1) for n in shape], dtype=float))


def _items(node: ast.expr, lookup: Lookup) -> Any:
    """Return a number, or nested lists and tuples of numbers."""
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [_items(item, lookup) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Constant) and isinstance(node.value, complex):
        return node.value
    return constant(node, lookup)


def _element(node: ast.expr, meaning: Meaning) -> DType:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 16:
        try:
            named: DType = np.dtype(node.value)
        except TypeError as error:
            raise NotConstant(ast.unparse(node)) from error
        return named if named in ELEMENTS else _not(node)
    value = meaning(node)
    if isinstance(value, np.dtype):
        return value
    return np.dtype(value) if is_scalar_type(value) else _not(node)


def _not(node: ast.AST) -> NoReturn:
    raise NotConstant(ast.unparse(node))


def _structure(
    node: ast.Call, named: dict[str, ast.expr], meaning: Meaning, lookup: Lookup
) -> DType:
    """Return ``np.dtype([("x", np.float32), ("z", np.int8, (3,))], align=True)``."""
    align = constant(named["align"], lookup) if "align" in named else False
    if len(node.args) != 1:
        _not(node)
    if not isinstance(node.args[0], ast.List):
        return np.dtype(_element(node.args[0], meaning))
    fields: list[tuple[Any, DType, tuple[int, ...]]] = []
    if len(node.args[0].elts) > MOST_FIELDS:
        _not(node)
    for field in node.args[0].elts:
        parts = field.elts if isinstance(field, ast.Tuple) else []
        if len(parts) not in (2, 3) or not isinstance(parts[0], ast.Constant):
            _not(node)
        shape = constant(parts[2], lookup) if len(parts) == 3 else ()
        shape = shape if isinstance(shape, tuple) else (shape,)
        lengths = [n for n in shape if isinstance(n, int) and 0 < n <= MOST_FIELDS]
        if len(lengths) < len(shape) or len(shape) > 3:
            _not(node)
        fields.append((parts[0].value, _element(parts[1], meaning), tuple(lengths)))
    try:
        return np.dtype(fields, align=bool(align))
    except (TypeError, ValueError) as error:
        raise NotConstant(str(error)) from error
