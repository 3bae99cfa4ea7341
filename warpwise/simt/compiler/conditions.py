"""Values that a condition chooses, and conditions known before the launch.

``x is None`` is known from the type of ``x``, and a comparison of text from the text. Only the
branch that is taken is compiled, so that a device function can have optional parameters, as in
Numba."""

from __future__ import annotations

import ast
import operator
from functools import reduce

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler.closures import (
    Charge,
    Code,
    Cost,
    Number,
    constant_number,
    converted,
    truth,
)
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.masks import Mask, split
from warpwise.simt.machine.frame import Frame, merged
from warpwise.simt.types import BOOL, NONE, Type, Value


def known(c: Context, test: ast.expr) -> bool | None:
    """Evaluate a condition that is known before the launch; None for any other."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = known(c, operand)
            return None if value is None else not value
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return _is_none(c, test)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            a, b = c.names.text(left), c.names.text(right)
            return None if a is None or b is None else (a == b) == isinstance(op, ast.Eq)
    return None


def _is_none(c: Context, node: ast.Compare) -> bool:
    sides = node.left, node.comparators[0]
    none = [isinstance(side, ast.Constant) and side.value is None for side in sides]
    value = sides[none[0]] if any(none) else None
    if value is None or not isinstance(value, (ast.Name, ast.Constant)):
        what = f"{ast.unparse(node)!r}: a kernel compares numbers with ==, !=, <, <=, > and >="
        try_this = "compare with == instead of is; only a name can be tested with is None"
        c.refuse(node, what, try_this)
    outer, c.cost = c.cost, Cost()
    is_none = c.expression(value).type == NONE
    c.cost = outer
    return is_none == isinstance(node.ops[0], ast.Is)


def identity(c: Context, node: ast.Compare) -> Number:
    """Compile ``x is None`` as a value."""
    if len(node.ops) != 1:
        what = f"{ast.unparse(node)!r}: is cannot be chained in a kernel"
        c.refuse(node, what, "x is None, on its own")
    return constant_number(_is_none(c, node), BOOL)


def and_or(c: Context, node: ast.BoolOp) -> Number:
    """Compile ``a and b`` and ``a or b``: lanes that are decided do not compute the rest."""

    def part(i: int, value: ast.expr) -> tuple[Number, Charge]:
        return c.apart(lambda: c.scalar(value), node, apart=i > 0)

    parts = [part(i, value) for i, value in enumerate(node.values)]
    is_or = isinstance(node.op, ast.Or)
    if any(code.type != BOOL for code, _ in parts):
        return _chosen(parts, is_or)
    runs = [(code.run, charge) for code, charge in parts]
    combine = operator.or_ if is_or else operator.and_

    def run(frame: Frame, mask: Mask) -> Value:
        result: Value = None
        rest = mask
        for part, charge in runs:
            charge(frame, rest)
            value = part(frame, rest)
            result = value if result is None else combine(result, value)
            yes, no = split(rest, value)
            undecided = no if is_or else yes
            if undecided is None:
                break
            rest = undecided
        return result

    return Number(run, BOOL)


def _chosen(parts: list[tuple[Number, Charge]], is_or: bool) -> Number:
    """Compile ``a or b`` and ``a and b`` of numbers: the one that decides.

    The type is one that holds all parts; each part comes with the closure that counts it."""
    found: list[Type] = [code.type for code, _ in parts]
    t = reduce(types.unify, found)
    assert types.is_scalar(t)
    runs = [(converted(code, t).run, charge) for code, charge in parts]

    def run(frame: Frame, mask: Mask) -> Value:
        result: Value = None
        value: Value = None
        rest = mask
        for part, charge in runs:
            if result is not None:
                yes, no = split(rest, _truth(value))
                undecided = no if is_or else yes
                if undecided is None:
                    break
                rest = undecided
            charge(frame, rest)
            value = part(frame, rest)
            result = value if rest is mask else merged(rest, value, result, None)
        return result

    return Number(run, t)


def if_expression(c: Context, node: ast.IfExp) -> Code:
    taken = known(c, node.test)
    if taken is not None:
        return c.expression(node.body if taken else node.orelse)
    test = truth(c.scalar(node.test))
    c.cost.add("control")
    yes, charge_yes = c.apart(lambda: c.expression(node.body), node)
    no, charge_no = c.apart(lambda: c.expression(node.orelse), node)
    t = types.unify(yes.type, no.type)
    condition, first, second = test.run, converted(yes, t).run, converted(no, t).run
    site = c.site(node)

    def run(frame: Frame, mask: Mask) -> Value:
        on, off = split(mask, condition(frame, mask))
        if off is None:
            charge_yes(frame, mask)
            return first(frame, mask)
        if on is None:
            charge_no(frame, mask)
            return second(frame, mask)
        charge_yes(frame, on)
        a = first(frame, on)
        charge_no(frame, off)
        return merged(on, a, second(frame, off), site)

    return Code(run, t)


def _truth(value: Value) -> Value:
    return value != 0 if isinstance(value, np.ndarray) else bool(value)
