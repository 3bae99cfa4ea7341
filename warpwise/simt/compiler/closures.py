"""Compiled pieces of a kernel: closures over NumPy lanes with their Numba types and costs.

A closure works on all lanes of a batch; the value of a lane that is not active means nothing.
Uniform integers stay Python ints, which keeps index arithmetic cheap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

from warpwise.simt import types
from warpwise.simt.lanes.counting import Work
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import BOOL, DType, OptionalType, TupleType, Type, Value, cast, is_scalar

Run: TypeAlias = Callable[[Frame, Mask], Value]  #: an expression
Step: TypeAlias = Callable[[Frame, Mask], Mask | None]  #: a statement: the lanes that go on
Put: TypeAlias = Callable[[Frame, Value, Mask], None]  #: an assignment of a value
Charge: TypeAlias = Callable[[Frame, Mask], None]  #: counts one pass for the active lanes


@dataclass(frozen=True)
class Code:
    """A compiled expression: its closure and the type of its value.

    ``constant``: the compiler knows that value."""

    run: Run
    type: Type
    constant: bool = False


@dataclass(frozen=True)
class Number(Code):
    """A compiled expression whose value is one number."""

    type: DType


@dataclass(frozen=True)
class Element:
    """A number in memory: the closures of its array and of one index for each dimension."""

    dtype: DType
    space: str
    array: Run
    indices: list[Run]


@dataclass(frozen=True)
class Items:
    """What a loop runs over: the number of items, and the item of the trip in its hidden variable.

    ``prepare``: closures that run before the first trip."""

    count: Run  #: int or lanes
    item: Callable[[], Code]
    prepare: list[Charge] = field(default_factory=list)


@dataclass
class Cost:
    """Operations by class and floating-point operations by type: one pass, per active lane."""

    ops: dict[str, int] = field(default_factory=dict)
    flops: dict[str, int] = field(default_factory=dict)
    special_fp64: int = 0  #: of the special ones among ``ops``, those on float64

    def add(self, op_class: str, count: int = 1) -> None:
        """Add ``count`` operations of one of ``metrics.OPERATIONS``."""
        self.ops[op_class] = self.ops.get(op_class, 0) + count

    def arithmetic(self, t: Type, count: int = 1) -> None:
        """Add ``count`` operations on numbers of a type."""
        self.add(_float_class(t) or "integer", count)

    def special(self, t: Type, count: int = 1) -> None:
        """Add ``count`` functions such as ``exp`` of numbers of a type."""
        self.add("special", count)
        if _float_class(t) == "fp64":
            self.special_fp64 += count

    def flop(self, t: Type, count: int = 1) -> None:
        """Add ``count`` floating-point operations, if the type is floating point."""
        name = _float_class(t)
        if name and count:
            self.flops[name] = self.flops.get(name, 0) + count

    def product(self, flops: int) -> None:
        """Add a product on tensor cores, of so many floating-point operations of each lane."""
        self.add("tensor")
        self.flops["tensor"] = self.flops.get("tensor", 0) + flops

    @property
    def slots(self) -> int:
        return sum(self.ops.values())


_FLOAT_CLASSES: dict[Type, str] = {
    types.FLOAT16: "fp16",
    types.FLOAT32: "fp32",
    types.FLOAT64: "fp64",
}


def _float_class(t: Type) -> str:
    return _FLOAT_CLASSES.get(t, "")


def uncounted(frame: Frame, mask: Mask) -> None:
    """Count nothing: the pass is counted elsewhere, or costs nothing."""


def charging(line: int, cost: Cost) -> Charge:
    """Return the closure that counts one pass over ``cost`` for the active lanes."""
    if not cost.slots:
        return uncounted
    ops = [(f"op_{name}", count) for name, count in cost.ops.items()]
    flops = [(f"flops_{name}", count) for name, count in cost.flops.items()]
    special = [("special_fp64", cost.special_fp64)] if cost.special_fp64 else []
    work = Work(line, (*ops, *flops, *special), cost.slots)
    return lambda frame, mask: frame.batch.issue(work, mask)


def known(run: Run) -> Value:
    """Return the value of a closure of constants, which reads neither variables nor lanes."""
    nothing: Any = None
    return run(nothing, nothing)


def constant_code(value: Value) -> Code:
    """Compile a constant that a kernel can hold (``types.of_constant``)."""
    kind = types.of_constant(value)
    if is_scalar(kind):
        return constant_number(cast(value, kind), kind)
    assert kind is not None
    return Code(lambda frame, mask: value, kind, constant=True)


def constant_number(value: Value, t: DType) -> Number:
    """Compile a constant that has the type ``t`` already."""
    return Number(lambda frame, mask: value, t, constant=True)


@overload
def converted(code: Code, to: DType) -> Number: ...
@overload
def converted(code: Code, to: Type) -> Code: ...
def converted(code: Code, to: Type) -> Code:
    """Return ``code`` with its value cast to a type that it can be unified with."""
    if is_scalar(to):
        if code.type != to:
            return cast_number(code.run, to)
        return code if isinstance(code, Number) else Number(code.run, to, code.constant)
    if isinstance(to, OptionalType) and code.type != to:
        run, t = code.run, code.type
        return Code(lambda frame, mask: optional(run(frame, mask), t, to), to)
    return code if code.type == to else cast_code(code.run, to)


def optional(value: Value, t: Type, to: OptionalType) -> Value:
    """Return a value of type ``t``, a number, None or already a pair, as an optional number."""
    if t == types.NONE:
        return False, cast(0, to.item)
    if isinstance(t, OptionalType):
        return value[0], cast(value[1], to.item)
    return True, cast(value, to.item)


def cast_number(run: Run, to: DType) -> Number:
    """Cast the value of ``run``, any number."""
    return Number(lambda frame, mask: cast(run(frame, mask), to), to)


def cast_code(run: Run, to: Type) -> Code:
    """Cast the value of ``run`` from any type: tuples item by item, arrays unchanged."""
    if is_scalar(to):
        return cast_number(run, to)
    if isinstance(to, TupleType):
        return Code(lambda frame, mask: _cast_items(run(frame, mask), to), to)
    return Code(run, to)


def _cast_items(values: tuple[Value, ...], to: TupleType) -> tuple[Value, ...]:
    return tuple(
        cast(v, t) if is_scalar(t) else _cast_items(v, t) if isinstance(t, TupleType) else v
        for v, t in zip(values, to.items, strict=True)
    )


def items_of(run: Run, t: TupleType) -> list[Code]:
    """Return the items of a tuple, each as code of its own."""

    def item(i: int) -> Run:
        return lambda f, m: run(f, m)[i]

    return [Code(item(i), part) for i, part in enumerate(t.items)]


def joined(codes: list[Code], t: TupleType) -> Code:
    """Join codes to a tuple of type ``t``."""
    runs = [code.run for code in codes]
    return Code(lambda f, m: tuple(run(f, m) for run in runs), t)


def truth(code: Number) -> Number:
    """Return ``code`` as a condition."""
    if code.type == BOOL:
        return code
    run = code.run
    return Number(lambda frame, mask: run(frame, mask) != 0, BOOL)
