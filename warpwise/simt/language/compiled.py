"""Compiled pieces of a kernel: closures over NumPy lanes, each with its Numba type, and what a pass over them costs.

A closure works on all lanes of a batch; the value of a lane that is not active means nothing. Uniform integers stay Python
ints, which keeps index arithmetic cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from warpwise.simt import types
from warpwise.simt.lanes.counting import Work
from warpwise.simt.types import BOOL, TupleType, cast, is_scalar

#: The classes of the instruction mix; ``Metrics`` has a field ``op_<class>`` for each.
OP_CLASSES = ("fp16", "fp32", "fp64", "integer", "special", "conversion", "memory", "control", "communication")


@dataclass(frozen=True)
class Code:
    """A compiled expression: ``run(frame, mask)`` and the type of its value; ``constant`` if the compiler knows that value."""

    run: Callable
    type: object
    constant: bool = False


@dataclass
class Cost:
    """What one pass over a piece of code issues, per active lane: operations by class, and floating-point operations by type."""

    ops: dict[str, int] = field(default_factory=dict)
    flops: dict[str, int] = field(default_factory=dict)

    def add(self, op_class: str, count: int = 1) -> None:
        """``count`` operations of one of ``OP_CLASSES``."""
        self.ops[op_class] = self.ops.get(op_class, 0) + count

    def arithmetic(self, t, count: int = 1) -> None:
        """``count`` operations on numbers of a type."""
        self.add(_float_class(t) or "integer", count)

    def flop(self, t, count: int = 1) -> None:
        """``count`` floating-point operations, if the type is one."""
        name = _float_class(t)
        if name and count:
            self.flops[name] = self.flops.get(name, 0) + count

    @property
    def slots(self) -> int:
        return sum(self.ops.values())


def _float_class(t) -> str:
    return {types.FLOAT16: "fp16", types.FLOAT32: "fp32", types.FLOAT64: "fp64"}.get(t, "")


def charging(line: int, cost: Cost) -> Callable:
    """The closure that counts one pass over ``cost`` for the active lanes."""
    if not cost.slots:
        return lambda frame, mask: None
    ops = [(f"op_{name}", count) for name, count in cost.ops.items()] + [(f"flops_{name}", count) for name, count in cost.flops.items()]
    work = Work(line, tuple(ops), cost.slots)
    return lambda frame, mask: frame.batch.issue(work, mask)


def constant_code(value) -> Code:
    kind = types.of_constant(value)
    if is_scalar(kind):
        value = cast(value, kind)
    return Code(lambda frame, mask: value, kind, constant=True)


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
