"""Operators of a kernel: typing rules, ufuncs, and the same on Python ints (uniform integers)."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from warpwise.errors import ArithmeticFault
from warpwise.messages import Words, message
from warpwise.simt import types
from warpwise.simt.types import INT64, DType, Value, as_array, wrap_int64

#: A compiled expression: its value in a frame, for the lanes of a mask (``machine``).
Run: TypeAlias = Callable[[Any, Any], Value]


@dataclass(frozen=True)
class Operation:
    symbol: str
    rule: Callable[[DType, DType], DType]
    ufunc: Callable[[Value, Value], Value]
    on_ints: Callable[[int, int], Any]  #: an int but for ``/``, of which it is a float
    flops: int = 0


def _power_of_ints(a: int, b: int) -> int:
    return pow(a, b, 2**64) if b >= 0 else int(a in (1, -1)) * a ** (-b % 2)


def _left(a: int, b: int) -> int:
    return a << b if 0 <= b < 64 else 0


def _right(a: int, b: int) -> int:
    return a >> b if 0 <= b < 64 else (-1 if a < 0 else 0)


def power(a: Value, b: Value) -> Value:
    """``a ** b``; a negative power of an integer is truncated: 0, but for 1 and -1.

    ``_power_of_ints`` does the same."""
    if as_array(b).dtype.kind != "i":
        return np.power(a, b)
    b = as_array(b)
    inverse = np.where(np.abs(a) == 1, np.power(a, np.bitwise_and(b, 1)), 0)
    return np.where(np.less(b, 0), inverse, np.power(a, np.maximum(b, 0)))[()]


BINARY: dict[type[ast.operator], Operation] = {
    ast.Add: Operation("+", types.arithmetic, np.add, operator.add, 1),
    ast.Sub: Operation("-", types.arithmetic, np.subtract, operator.sub, 1),
    ast.Mult: Operation("*", types.arithmetic, np.multiply, operator.mul, 1),
    ast.Div: Operation("/", types.division, np.true_divide, operator.truediv, 1),
    ast.FloorDiv: Operation("//", types.floor_division, np.floor_divide, operator.floordiv),
    ast.Mod: Operation("%", types.floor_division, np.mod, operator.mod),
    ast.Pow: Operation("**", types.power, power, _power_of_ints),
    ast.LShift: Operation("<<", types.shift, np.left_shift, _left),
    ast.RShift: Operation(">>", types.shift, np.right_shift, _right),
    ast.BitAnd: Operation("&", types.bitwise, np.bitwise_and, operator.and_),
    ast.BitOr: Operation("|", types.bitwise, np.bitwise_or, operator.or_),
    ast.BitXor: Operation("^", types.bitwise, np.bitwise_xor, operator.xor),
}
COMPARE: dict[type[ast.cmpop], tuple[np.ufunc, Callable[[Any, Any], bool]]] = {
    ast.Eq: (np.equal, operator.eq),
    ast.NotEq: (np.not_equal, operator.ne),
    ast.Lt: (np.less, operator.lt),
    ast.LtE: (np.less_equal, operator.le),
    ast.Gt: (np.greater, operator.gt),
    ast.GtE: (np.greater_equal, operator.ge),
}


def binary_run(op: Operation, left: Run, right: Run, t: DType) -> Run:
    ufunc, on_ints = op.ufunc, op.on_ints
    if t != INT64:
        return lambda frame, mask: ufunc(left(frame, mask), right(frame, mask))

    def run(frame: Any, mask: Any) -> Value:
        a, b = left(frame, mask), right(frame, mask)
        if type(a) is int and type(b) is int:
            return wrap_int64(on_ints(a, b))
        return ufunc(a, b)

    return run


def unary_run(operation: Callable[[Value], Value], operand: Run) -> Run:
    def run(frame: Any, mask: Any) -> Value:
        value = operation(operand(frame, mask))
        return wrap_int64(value) if type(value) is int else value

    return run


def guarded_division(op: Operation, left: Run, right: Run, t: DType, site: Any) -> Run:
    """``//`` and ``%`` on integers, any with ``debug=True``: an error for an active lane's zero.

    By a power of two they are a shift and a mask."""
    remainder = op.symbol == "%"
    operation = ("integer " if types.is_integer(t) else "") + (
        "remainder" if remainder else "division"
    )

    def run(frame: Any, mask: Any) -> Value:
        a, b = left(frame, mask), right(frame, mask)
        if type(b) is int and b > 0:
            if type(a) is int:
                return a % b if remainder else a // b
            if b & (b - 1) == 0:
                return a & (b - 1) if remainder else a >> (b.bit_length() - 1)
            return op.ufunc(a, b)
        zero = mask.grid() & (np.asarray(b) == 0)
        if zero.any():
            raise ArithmeticFault(
                message("{operation} by zero", operation=Words(operation)),
                site.where(**mask.group.first_of(zero)),
                "divide only where the divisor is not 0",
            )
        return wrap_int64(op.on_ints(a, b)) if type(a) is int and type(b) is int else op.ufunc(a, b)

    return run
