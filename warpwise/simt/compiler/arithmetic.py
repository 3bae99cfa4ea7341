"""Operators on numbers: what is computed in which type, and at what cost.

Complex numbers, complex64 and complex128, have Numba's typing too. Counted are the real operations
behind a complex one: 2 for a sum, 6 for a product (4 instructions, as two are fused), 11 for a
quotient."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

import numpy as np

from warpwise.simt import types
from warpwise.simt.builtins import operations
from warpwise.simt.builtins.operations import BINARY, COMPARE
from warpwise.simt.compiler.arguments import NO_COMPLEX
from warpwise.simt.compiler.closures import (
    Number,
    Run,
    constant_number,
    converted,
    known,
    truth,
)
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import (
    BOOL,
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    DType,
    Value,
    is_complex,
    is_float,
    is_integer,
)

#: Operator -> instructions, floating-point operations of a complex one.
_COSTS: dict[type[ast.operator], tuple[int, int]] = {
    ast.Add: (2, 2),
    ast.Sub: (2, 2),
    ast.Mult: (4, 6),
    ast.Div: (11, 11),
    ast.Pow: (1, 0),
}


_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)


def binary(
    c: Context, node: ast.stmt | ast.expr, left: Number, op: ast.operator, right: Number
) -> Number:
    """Compile ``left op right``; ``node`` is for messages."""
    if type(op) not in BINARY:
        what = "matrix multiplication is not an operation of one thread"
        c.refuse(node, what, "write the sum as a loop")
    if is_complex(left.type) or is_complex(right.type):
        return _complex_binary(c, left, op, right)
    rule = BINARY[type(op)]
    t: DType = rule.rule(left.type, right.type)
    a, b = converted(left, t), converted(right, t)
    divides = isinstance(op, _DIVISIONS) and (is_integer(t) or c.kernel.debug)
    if left.constant and right.constant and not divides:
        # the compiler does it, and the kernel pays nothing
        return constant_number(known(operations.binary_run(rule, a.run, b.run, t)), t)
    c.notes.on_operation(node, rule.symbol, left, right, t)
    c.cost.arithmetic(t)
    if isinstance(op, ast.Pow) and is_float(right.type):
        c.cost.special(t)  # exp2(b * log2(a)), so that no exp is had for a multiplication
    if is_float(t):
        c.cost.flop(t, rule.flops)
    if divides:
        return Number(operations.guarded_division(rule, a.run, b.run, t, c.site(node)), t)
    return Number(operations.binary_run(rule, a.run, b.run, t), t)


def _complex_binary(c: Context, left: Number, op: ast.operator, right: Number) -> Number:
    if type(op) not in _COSTS:
        raise types.TypeMismatch("complex numbers know +, -, *, / and **", NO_COMPLEX)
    rule = BINARY[type(op)]
    t: DType = rule.rule(left.type, right.type)
    a, b, part = converted(left, t).run, converted(right, t).run, part_type(t)
    instructions, flops = _COSTS[type(op)]
    ufunc: Callable[..., Value] = rule.ufunc
    if isinstance(op, ast.Pow):
        ufunc = np.power
        c.cost.special(part)
    else:
        c.cost.arithmetic(part, instructions)
    c.cost.flop(part, flops)
    return Number(lambda f, m: ufunc(a(f, m), b(f, m)), t)


def comparison(c: Context, left: Number, right: Number, op: ast.cmpop) -> Number:
    """Compile ``left op right`` of two numbers."""
    if is_complex(left.type) or is_complex(right.type):
        return _complex_comparison(c, left, right, op)
    t = types.comparison(left.type, right.type)
    c.cost.arithmetic(t)
    if is_float(t):
        left, right = converted(left, t), converted(right, t)
    ufunc, on_ints = COMPARE[type(op)]
    a_run, b_run = left.run, right.run

    def run(frame: Frame, mask: Mask) -> Value:
        a, b = a_run(frame, mask), b_run(frame, mask)
        return on_ints(a, b) if type(a) is int and type(b) is int else ufunc(a, b)

    return Number(run, BOOL)


def _complex_comparison(c: Context, left: Number, right: Number, op: ast.cmpop) -> Number:
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        try_this = f"compare their abs(), or {NO_COMPLEX}"
        raise types.TypeMismatch("complex numbers have no order", try_this)
    t = types.comparison(left.type, right.type)
    c.cost.arithmetic(part_type(t), 2)
    a, b, ufunc = converted(left, t).run, converted(right, t).run, COMPARE[type(op)][0]
    return Number(lambda f, m: ufunc(a(f, m), b(f, m)), BOOL)


def unary(c: Context, node: ast.UnaryOp) -> Number:
    negates = isinstance(node.op, ast.USub)
    literal = node.operand.value if isinstance(node.operand, ast.Constant) else None
    if negates and isinstance(literal, (int, float)):
        return c.scalar(ast.copy_location(ast.Constant(-literal), node))
    return applied_unary(c, node.op, c.scalar(node.operand))


def applied_unary(c: Context, op: ast.unaryop, operand: Number) -> Number:
    """Compile ``op operand``."""
    negates = isinstance(op, ast.USub)
    # such as -math.inf: the compiler does it
    if operand.constant and is_float(operand.type) and negates:
        return constant_number(-known(operand.run), operand.type)
    c.cost.arithmetic(operand.type)
    if isinstance(op, ast.Not):
        return _inverted(truth(operand).run)
    if isinstance(op, ast.Invert):
        if not is_integer(operand.type):
            try_this = "not turns a condition round, - changes a sign"
            raise types.TypeMismatch("~ needs an integer", try_this)
        if operand.type == BOOL:
            return _inverted(operand.run)
    t = types.negation(operand.type)
    if isinstance(op, ast.UAdd):
        return converted(operand, t)
    own = converted(operand, t) if operand.type == BOOL else operand
    operation = operator.neg if negates else operator.invert
    # computed in its own width, then widened
    return converted(Number(operations.unary_run(operation, own.run), own.type), t)


def _inverted(run: Run) -> Number:
    return Number(lambda f, m: not_(run(f, m)), BOOL)


def not_(value: Value) -> Value:
    return not value if isinstance(value, bool) else np.logical_not(value)


def part_type(t: DType) -> DType:
    """Return the type of the real part."""
    return FLOAT32 if t == COMPLEX64 else FLOAT64
