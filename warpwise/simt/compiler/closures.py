"""Compiled pieces of a kernel: closures over NumPy lanes with their Numba types and costs.

A closure works on all lanes of a batch; the value of a lane that is not active means nothing.
Uniform integers stay Python ints, which keeps index arithmetic cheap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from warpwise.simt import types
from warpwise.simt.lanes.counting import Work
from warpwise.simt.types import BOOL, TupleType, cast, is_scalar


@dataclass(frozen=True)
class Code:
    """A compiled expression: ``run(frame, mask)`` and the type of its value.

    ``constant``: the compiler knows that value."""

    run: Callable
    type: object
    constant: bool = False


@dataclass
class Cost:
    """Operations by class and floating-point operations by type: one pass, per active lane."""

    ops: dict[str, int] = field(default_factory=dict)
    flops: dict[str, int] = field(default_factory=dict)

    def add(self, op_class: str, count: int = 1) -> None:
        """Add ``count`` operations of one of ``metrics.OPERATIONS``."""
        self.ops[op_class] = self.ops.get(op_class, 0) + count

    def arithmetic(self, t, count: int = 1) -> None:
        """Add ``count`` operations on numbers of a type."""
        self.add(_float_class(t) or "integer", count)

    def flop(self, t, count: int = 1) -> None:
        """Add ``count`` floating-point operations, if the type is floating point."""
        name = _float_class(t)
        if name and count:
            self.flops[name] = self.flops.get(name, 0) + count

    @property
    def slots(self) -> int:
        return sum(self.ops.values())


def _float_class(t) -> str:
    return {types.FLOAT16: "fp16", types.FLOAT32: "fp32", types.FLOAT64: "fp64"}.get(t, "")


def charging(line: int, cost: Cost) -> Callable:
    """Return the closure that counts one pass over ``cost`` for the active lanes."""
    if not cost.slots:
        return lambda frame, mask: None
    ops = [(f"op_{name}", count) for name, count in cost.ops.items()]
    flops = [(f"flops_{name}", count) for name, count in cost.flops.items()]
    work = Work(line, (*ops, *flops), cost.slots)
    return lambda frame, mask: frame.batch.issue(work, mask)


def constant_code(value) -> Code:
    kind = types.of_constant(value)
    if is_scalar(kind):
        value = cast(value, kind)
    return Code(lambda frame, mask: value, kind, constant=True)


def converted(code: Code, to) -> Code:
    """Return ``code`` with its value cast to a type that it can be unified with."""
    return code if code.type == to else cast_code(code.run, to)


def cast_code(run: Callable, to) -> Code:
    """Cast the value of ``run`` from any type: tuples item by item, arrays unchanged."""
    if is_scalar(to):
        return Code(lambda frame, mask: cast(run(frame, mask), to), to)
    if isinstance(to, TupleType):
        return Code(lambda frame, mask: _cast_items(run(frame, mask), to), to)
    return Code(run, to)


def _cast_items(values: tuple, to: TupleType) -> tuple:
    return tuple(
        cast(v, t) if is_scalar(t) else _cast_items(v, t) if isinstance(t, TupleType) else v
        for v, t in zip(values, to.items, strict=True)
    )


def items_of(code: Code) -> list[Code]:
    """Return the items of a tuple, each as code of its own."""
    run = code.run
    return [Code(lambda f, m, i=i: run(f, m)[i], t) for i, t in enumerate(code.type.items)]


def joined(codes: list[Code], t: TupleType) -> Code:
    """Join codes to a tuple of type ``t``."""
    runs = [code.run for code in codes]
    return Code(lambda f, m: tuple(run(f, m) for run in runs), t)


def truth(code: Code) -> Code:
    """Return ``code`` as a condition."""
    if code.type == BOOL:
        return code
    run = code.run
    return Code(lambda frame, mask: run(frame, mask) != 0, BOOL)
