"""Values that a condition chooses, and conditions known before the launch.

``x is None`` is known from the type of ``x``; a constant, and a comparison of constants, numbers of
dimensions and texts, from the text. Only the branch that is taken is compiled, so that a device
function can have optional parameters, as in Numba."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from enum import Enum
from functools import reduce
from typing import Any

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler import enumerations, optional_values
from warpwise.simt.compiler.arithmetic import comparison
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
from warpwise.simt.types import BOOL, NONE, EnumType, OptionalType, Type, Value


def known(c: Context, test: ast.expr) -> bool | None:
    """Evaluate a condition that is known before the launch; None for any other."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            turned = known(c, operand)
            return None if turned is None else not turned
        case ast.BoolOp(op=op, values=values):
            return _decided(c, values, isinstance(op, ast.Or))
        case ast.Compare(ops=[ast.Is() | ast.IsNot() as op], left=left, comparators=[right]):
            same = _identical(c, left, right)
            return None if same is None else same == isinstance(op, ast.Is)
        case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in _COMPARE:
            a, b = c.names.value(left), c.names.value(right)
            if a is NotImplemented or b is NotImplemented or not _comparable(a, b, op):
                return None
            return bool(_COMPARE[type(op)](a, b))
        case ast.Constant() | ast.Name() | ast.Attribute():
            if isinstance(test, ast.Name) and c.variables.env.get(test.id) is NONE:
                return False
            value = c.names.value(test)
            return None if value is NotImplemented else bool(value)
    return None


_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _comparable(a: object, b: object, op: ast.cmpop) -> bool:
    """True for two numbers, and for == and != of two texts or of members of one enumeration."""
    if all(isinstance(v, (int, float, np.number, np.bool_)) for v in (a, b)):
        return True
    is_equality = isinstance(op, (ast.Eq, ast.NotEq))
    return is_equality and type(a) is type(b) and isinstance(a, (str, Enum))


def _decided(c: Context, values: list[ast.expr], is_or: bool) -> bool | None:
    """Evaluate ``a and b`` as far as it is known; what is not known may come behind."""
    for value in values:
        part = known(c, value)
        if part is None or part == is_or:
            return part
    return not is_or


def _identical(c: Context, left: ast.expr, right: ast.expr) -> bool | None:
    """Evaluate ``left is right`` if it is known before the launch."""
    if not all(isinstance(n, (ast.Name, ast.Constant, ast.Attribute)) for n in (left, right)):
        return None
    outer, c.cost = c.cost, Cost()
    a, b = c.expression(left).type, c.expression(right).type
    c.cost = outer
    if NONE not in (a, b):
        return None
    return None if isinstance(a, OptionalType) or isinstance(b, OptionalType) else a == b


def identity(c: Context, node: ast.Compare) -> Number:
    """Compile ``x is None`` and ``x is y`` as a value; values of different types never are."""
    if len(node.ops) != 1:
        what = f"{ast.unparse(node)!r}: is cannot be chained in a kernel"
        c.refuse(node, what, "x is None, on its own")
    sides, op = (node.left, node.comparators[0]), node.ops[0]
    same = _identical(c, *sides)
    if same is not None:
        return constant_number(same == isinstance(op, ast.Is), BOOL)
    left, right = (_member_or(c, side) for side in sides)
    if (of_members := enumerations.compared(left, right, op)) is not None:
        return of_members
    if types.is_scalar(left.type) and left.type == right.type:
        equality = ast.Eq() if isinstance(op, ast.Is) else ast.NotEq()
        return comparison(c, c.number(sides[0], left), c.number(sides[1], right), equality)
    return _of_other_types(left, right, isinstance(op, ast.Is))


def _of_other_types(left: Code, right: Code, positive: bool) -> Number:
    """Compile ``is`` of values that are not of one type: a number or None may be None."""
    runs = left.run, right.run
    pair = next((side for side in (left, right) if isinstance(side.type, OptionalType)), None)
    if pair is not None and NONE in (left.type, right.type):
        found = optional_values.is_none(pair)
        if positive:
            return Number(found, BOOL)
        return Number(lambda f, m: np.logical_not(found(f, m)), BOOL)
    same = (left.type == right.type) == positive

    def run(frame: Frame, mask: Mask) -> Value:
        for side in runs:
            side(frame, mask)
        return same

    return Number(run, BOOL)


def _member_or(c: Context, node: ast.expr) -> Code:
    """Compile a side of ``is``; a member of an enumeration is no plain integer here."""
    value = c.names.value(node)
    if isinstance(value, Enum):
        return enumerations.member(value)
    name = node.id if isinstance(node, ast.Name) else ""
    t = c.variables.env.get(name)
    if not isinstance(t, EnumType):
        return c.expression(node)
    slot = c.variables.slot(name)
    return Code(lambda frame, mask: frame.values[slot], t)


def and_or(c: Context, node: ast.BoolOp) -> Number:
    """Compile ``a and b`` and ``a or b``: lanes that are decided do not compute the rest."""

    def part(i: int, value: ast.expr) -> tuple[Number, Charge]:
        return c.apart(lambda: c.scalar(value), node, apart=i > 0)

    is_or = isinstance(node.op, ast.Or)
    values = _up_to_the_decision(c, node.values, is_or)
    if len(values) == 1:
        return c.scalar(values[0])
    parts = [part(i, value) for i, value in enumerate(values)]
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


def _up_to_the_decision(c: Context, values: list[ast.expr], is_or: bool) -> list[ast.expr]:
    """Leave out what comes behind a part that is known to decide, as in ``DEBUG and x.y``."""
    for i, value in enumerate(values):
        if known(c, value) == is_or:
            return values[: i + 1]
    return values


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
