"""The functions of Python's ``operator``, which do what its operators do."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from warpwise.simt.compiler.arguments import arguments
from warpwise.simt.compiler.arithmetic import applied_unary, binary, comparison
from warpwise.simt.compiler.closures import Number
from warpwise.simt.compiler.context import Context

BINARY: dict[Callable[..., object], ast.operator] = {
    operator.add: ast.Add(),
    operator.sub: ast.Sub(),
    operator.mul: ast.Mult(),
    operator.truediv: ast.Div(),
    operator.floordiv: ast.FloorDiv(),
    operator.mod: ast.Mod(),
    operator.pow: ast.Pow(),
    operator.lshift: ast.LShift(),
    operator.rshift: ast.RShift(),
    operator.and_: ast.BitAnd(),
    operator.or_: ast.BitOr(),
    operator.xor: ast.BitXor(),
}
BINARY |= {
    getattr(operator, f"i{function.__name__.strip('_')}"): op for function, op in BINARY.items()
}
COMPARE: dict[Callable[..., object], ast.cmpop] = {
    operator.eq: ast.Eq(),
    operator.ne: ast.NotEq(),
    operator.lt: ast.Lt(),
    operator.le: ast.LtE(),
    operator.gt: ast.Gt(),
    operator.ge: ast.GtE(),
}
UNARY: dict[Callable[..., object], ast.unaryop] = {
    operator.neg: ast.USub(),
    operator.pos: ast.UAdd(),
    operator.invert: ast.Invert(),
    operator.not_: ast.Not(),
}


def binary_call(c: Context, node: ast.Call, op: ast.operator) -> Number:
    a, b = arguments(c, node, 2)
    return binary(c, node, a, op, b)


def comparison_call(c: Context, node: ast.Call, op: ast.cmpop) -> Number:
    a, b = arguments(c, node, 2)
    return comparison(c, a, b, op)


def unary_call(c: Context, node: ast.Call, op: ast.unaryop) -> Number:
    (operand,) = arguments(c, node, 1)
    return applied_unary(c, op, operand)
