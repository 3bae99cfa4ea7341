"""Compiled pieces of a kernel: closures over NumPy lanes, each with its Numba type, and what a pass over them costs.

A closure works on all lanes of a batch; the value of a lane that is not active means nothing. Uniform integers stay Python
ints, which keeps index arithmetic cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpwise.simt import types
from warpwise.simt.types import BOOL, TupleType, cast, is_scalar


@dataclass(frozen=True)
class Code:
    """A compiled expression: ``run(frame, mask)`` and the type of its value."""

    run: Callable
    type: object


@dataclass
class Cost:
    """What one pass over a piece of code issues: instructions and floating-point operations per active lane."""

    slots: int = 0
    flops_fp32: int = 0
    flops_fp64: int = 0

    def flop(self, t, count: int = 1) -> None:
        if t == types.FLOAT32:
            self.flops_fp32 += count
        elif t == types.FLOAT64:
            self.flops_fp64 += count


def constant_code(value) -> Code:
    kind = types.of_constant(value)
    if is_scalar(kind):
        value = cast(value, kind)
    return Code(lambda frame, mask: value, kind)


def converted(code: Code, to) -> Code:
    """``code`` with its value cast to a type that it goes together with."""
    return code if code.type == to else cast_code(code.run, to)


def cast_code(run: Callable, to) -> Code:
    """The value of ``run`` cast to a type, whichever it has; tuples item by item, arrays as they are."""
    if is_scalar(to):
        return Code(lambda frame, mask: cast(run(frame, mask), to), to)
    return Code(lambda frame, mask: _cast_items(run(frame, mask), to), to) if isinstance(to, TupleType) else Code(run, to)


def _cast_items(values: tuple, to: TupleType) -> tuple:
    kinds = zip(values, to.items, strict=True)
    return tuple(cast(v, t) if is_scalar(t) else _cast_items(v, t) if isinstance(t, TupleType) else v for v, t in kinds)


def truth(code: Code) -> Code:
    """``code`` as a condition."""
    if code.type == BOOL:
        return code
    run = code.run
    return Code(lambda frame, mask: run(frame, mask) != 0, BOOL)


def charging(line: int, cost: Cost) -> Callable:
    """The closure that counts one pass over ``cost`` for the active lanes."""
    slots, fp32, fp64 = cost.slots, cost.flops_fp32, cost.flops_fp64
    if not slots:
        return lambda frame, mask: None
    if not fp32 and not fp64:
        return lambda frame, mask: frame.batch.issue(line, slots, mask)

    def charge(frame, mask):
        frame.batch.issue(line, slots, mask)
        counts = frame.batch.counts[line]
        counts.flops_fp32 += fp32 * mask.threads
        counts.flops_fp64 += fp64 * mask.threads

    return charge
