"""The signature that Numba takes for a call: that with the fewest bad conversions."""

from __future__ import annotations

from collections.abc import Iterable

from warpwise.simt.builtins.overloads import EXACT, SAFE, conversion, rated
from warpwise.simt.frontend.signatures import Kind, Signature
from warpwise.simt.types import ArrayType, TupleType, Type, is_scalar

#: Layouts of an array that is passed: those among "C" and "F" that it has.
Layouts = tuple[str, ...]


def best(signatures: Iterable[Signature], given: tuple[Type, ...]) -> list[Signature]:
    """Return the signatures that a call's arguments fit best: none, one, or several equals."""
    return best_of(signatures, given, tuple(("C", "F") for _ in given))


def best_of(
    signatures: Iterable[Signature], given: tuple[Type, ...], layouts: tuple[Layouts, ...]
) -> list[Signature]:
    """Return the signatures that a launch's arguments fit best; ``layouts`` are those of arrays."""
    found: dict[tuple[int, int, int], list[Signature]] = {}
    for signature in signatures:
        if len(signature.arguments) != len(given):
            continue
        ratings = list(map(_rating, given, signature.arguments, layouts))
        known = [rating for rating in ratings if rating is not None]
        if len(known) == len(ratings):
            found.setdefault(rated(known), []).append(signature)
    return found[min(found)] if found else []


def _rating(given: Type, kind: Kind, layouts: Layouts) -> int | None:
    """Rate the conversion of one argument; None where there is none."""
    if kind is None:
        return EXACT
    if isinstance(kind, tuple):
        if not isinstance(given, TupleType) or len(given.items) != len(kind):
            return None
        ratings = [_rating(t, item, layouts) for t, item in zip(given.items, kind, strict=True)]
        known = [rating for rating in ratings if rating is not None]
        return max(known, default=EXACT) if len(known) == len(ratings) else None
    if kind.ndim:
        if not isinstance(given, ArrayType) or (given.dtype, given.ndim) != (kind.dtype, kind.ndim):
            return None
        if kind.layout == "A":
            return EXACT if not layouts else SAFE
        return EXACT if kind.layout in layouts else None
    if not is_scalar(given) or (given.kind == "c" and kind.dtype.kind != "c"):
        return None
    return conversion(given, kind.dtype)
