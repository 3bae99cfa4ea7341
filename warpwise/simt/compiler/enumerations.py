"""Members of enumerations: ``Color.red``, compared by identity, and their values.

A member is the index of its place in the class. One of an ``IntEnum`` is its integer, but for
``is``, which never holds between members of different classes."""

from __future__ import annotations

import ast
from enum import Enum, IntEnum
from typing import Any

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, Number, Run, constant_code
from warpwise.simt.types import BOOL, INT64, EnumType, TupleType, Type, TypeMismatch, Value


def of_constant(value: Enum) -> Code:
    """Compile a member that a kernel names: one of an ``IntEnum`` is its integer."""
    return constant_code(int(value)) if isinstance(value, IntEnum) else member(value)


def member(value: Enum) -> Code:
    """Compile one member, known before the launch."""
    place = list(type(value)).index(value)
    return Code(lambda frame, mask: place, EnumType(type(value)), constant=True)


def value_of(code: Code, t: EnumType) -> Code:
    """Compile ``member.value``; all values of the class must have one type."""
    members: list[Enum] = list(t.members)
    found: list[Value] = [m.value for m in members]
    kinds = {types.of_constant(value) for value in found}
    kind = kinds.pop()
    if kinds or kind is None:
        what = f"the values of {t.members.__name__} are of several types"
        raise TypeMismatch(what, "values of one type, such as integers")
    return _chosen(code.run, found, kind)


def _chosen(run: Run, found: list[Value], kind: Type) -> Code:
    if isinstance(kind, TupleType):
        parts = [
            _chosen(run, [value[i] for value in found], t).run for i, t in enumerate(kind.items)
        ]
        return Code(lambda frame, mask: tuple(part(frame, mask) for part in parts), kind)
    assert types.is_scalar(kind)
    table = np.array(found, kind)
    return Number(lambda frame, mask: types.cast(table[run(frame, mask)], kind), kind)


def plain(code: Code, t: EnumType) -> Code:
    """Return a member of an ``IntEnum`` as its integer, and any other as it is."""
    if not issubclass(t.members, IntEnum):
        return code
    return _chosen(code.run, [int(m) for m in list[Any](t.members)], INT64)


def compared(left: Code, right: Code, op: ast.cmpop) -> Number | None:
    """Compile ``a == b`` and ``a is b`` of members; None if they are compared as numbers."""
    a, b = left.type, right.type
    if not (isinstance(a, EnumType) or isinstance(b, EnumType)):
        return None
    identical = isinstance(op, (ast.Is, ast.IsNot))
    if a != b:
        if not identical:
            return None
        same: Run = constant_code(False).run
    else:
        first, second = left.run, right.run
        if not isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            return None
        same = lambda frame, mask: first(frame, mask) == second(frame, mask)  # noqa: E731
    if isinstance(op, (ast.Eq, ast.Is)):
        return Number(same, BOOL)
    return Number(lambda frame, mask: np.logical_not(same(frame, mask)), BOOL)
