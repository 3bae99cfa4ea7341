"""Constants read from a syntax tree: shapes of arrays, and constants of text that does not run.

Numbers, tuples, names of other constants and integer arithmetic; bounded, so that no text can make
a huge number."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

#: A constant of a kernel: a number (a bool is one), or a tuple of constants.
Constant: TypeAlias = "int | float | tuple[Constant, ...]"
Lookup = Callable[[str], object]  #: the value of a name; KeyError for an unknown one

_BITS = 64
MAX_ITEMS = 1024  # of a tuple, those of tuples within it included
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Pow: operator.pow,
}


class NotConstant(Exception):
    """Raised for an expression that is not a constant; its text is the part that is not.

    Syntax is written as text only where somebody reads it."""

    def __str__(self) -> str:
        (part,) = self.args
        return ast.unparse(part) if isinstance(part, ast.AST) else str(part)


def constant(node: ast.AST, lookup: Lookup) -> Constant:
    """Return the value of a constant expression: int, float, bool or a tuple of them.

    Raises NotConstant."""
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return _bounded(value)
        case ast.Tuple(elts=items):
            return _short(tuple(constant(item, lookup) for item in items))
        case ast.Name(id=name):
            return _named(name, lookup)
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return _of_module(module, name, lookup)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(constant(operand, lookup))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _applied(op, _number(constant(left, lookup)), _number(constant(right, lookup)))
        case ast.Subscript(value=value, slice=index):
            return _item(node, constant(value, lookup), constant(index, lookup))
    raise NotConstant(node)


def _item(node: ast.Subscript, items: Constant, index: Constant) -> Constant:
    if isinstance(items, tuple) and type(index) is int and -len(items) <= index < len(items):
        return items[index]
    raise NotConstant(node)


def _named(name: str, lookup: Lookup) -> Constant:
    try:
        value = lookup(name)
    except KeyError:
        raise NotConstant(name) from None
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, tuple)):
        raise NotConstant(name)
    return value


def _of_module(module: str, name: str, lookup: Lookup) -> float:
    """Return the value of ``math.pi`` and the like."""
    try:
        value = vars(lookup(module)).get(name) if isinstance(lookup(module), ModuleType) else None
    except KeyError:
        value = None
    if not isinstance(value, float):
        raise NotConstant(f"{module}.{name}")
    return value


def _applied(op: ast.operator, left: int | float, right: int | float) -> int | float:
    if isinstance(op, (ast.Pow, ast.LShift)) and not (abs(left) < 2**_BITS and 0 <= right <= _BITS):
        raise NotConstant("a number beyond 64 bits")
    try:
        return _bounded(_OPERATIONS[type(op)](left, right))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise NotConstant(str(error)) from error


def _short(values: tuple[Constant, ...]) -> tuple[Constant, ...]:
    if _items(values) > MAX_ITEMS:
        raise NotConstant(f"a tuple of more than {MAX_ITEMS} numbers")
    return values


def _items(value: Constant) -> int:
    return sum(map(_items, value)) if isinstance(value, tuple) else 1


def _number(value: Constant) -> int | float:
    if not isinstance(value, (bool, int, float)):
        raise NotConstant(f"{value!r} is not a number")
    return value


def _bounded(value: int | float) -> int | float:
    if isinstance(value, int) and abs(value) >= 2**_BITS:
        raise NotConstant("a number beyond 64 bits")
    return value
