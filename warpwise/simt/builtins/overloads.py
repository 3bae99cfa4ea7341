"""Numba's overload resolution: the signature of a function that a call means.

A call may convert its arguments. Conversions are rated (exact, promotion, safe, unsafe), and the
signature with the fewest bad ones is taken, the first of equals; ``numba.cuda.typing.context`` does
the same, and tests compare every pair of types with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np

from warpwise.simt.types import BOOL, NONE, DType, TupleType, Type

EXACT, PROMOTED, SAFE, UNSAFE = range(4)  #: ratings of a conversion


@dataclass(frozen=True)
class Signature:
    """The types that a function computes with, and the type of its result."""

    arguments: tuple[DType, ...]
    result: Type


Rule: TypeAlias = Callable[..., Signature]  #: types of a call's arguments -> the signature called


def signatures(text: str) -> tuple[Signature, ...]:
    """Parse ``"f4(f4,f4) f8(f8,f8)"``; ``f4*i4(...)`` returns a tuple, ``-(...)`` nothing."""
    found = re.findall(r"(\S+)\(([^)]*)\)", text)
    return tuple(
        Signature(tuple(map(_dtype, arguments.split(","))), _result(result))
        for result, arguments in found
    )


def _dtype(letters: str) -> DType:
    return BOOL if letters == "b1" else np.dtype(letters)


def _result(text: str) -> Type:
    if text == "-":
        return NONE
    items = tuple(map(_dtype, text.split("*")))
    return items[0] if len(items) == 1 else TupleType(items)


def one_of(text: str) -> Rule:
    """Return the rule of a function with these signatures: argument types -> the one called."""
    cases = signatures(text)

    def rule(*arguments: DType) -> Signature:
        return min(cases, key=lambda case: _rating(arguments, case.arguments))

    return rule


def _rating(given: tuple[DType, ...], wanted: tuple[DType, ...]) -> tuple[int, int, int]:
    return rated([conversion(a, b) for a, b in zip(given, wanted, strict=True)])


def rated(conversions: list[int]) -> tuple[int, int, int]:
    """Return the number of conversions of each kind, the worst first: fewer are better."""
    return conversions.count(UNSAFE), conversions.count(SAFE), conversions.count(PROMOTED)


@cache
def conversion(a: DType, b: DType) -> int:
    """Rate the conversion of ``a`` to ``b``.

    Numba calls some unsafe that lose nothing: uint16 to float32, for one."""
    if a == b:
        return EXACT
    if a == BOOL:
        return SAFE
    if a.kind == b.kind:
        return PROMOTED if a.itemsize < b.itemsize else UNSAFE
    if b.kind == "c":  # by way of its real part's type
        real = np.dtype(f"f{b.itemsize // 2}")
        return SAFE if conversion(a, real) != UNSAFE else UNSAFE
    if a.kind == "u" and b.kind == "i":
        return SAFE if a.itemsize < b.itemsize else UNSAFE
    if a.kind in "iu" and b.kind == "f":
        # bytes of the float that Numba finds safe
        least = 8 if a.itemsize >= 4 else 2 * a.itemsize * (1 + (a.kind == "u"))
        return SAFE if b.itemsize >= least else UNSAFE
    return UNSAFE


def by_rule(takes: Callable[..., DType], gives: Callable[[DType], DType]) -> Rule:
    """Return the rule of a function that converts its arguments to one type, ``takes(*types)``.

    The type of the result is ``gives(that type)``."""

    def rule(*arguments: DType) -> Signature:
        t = takes(*arguments)
        return Signature((t,) * len(arguments), gives(t))

    return rule
