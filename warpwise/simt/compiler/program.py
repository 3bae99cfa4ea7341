"""Compiled functions: what runs, what it needs and returns, and how its threads work together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwise.errors import KernelTypeError, UnsupportedError
from warpwise.messages import Name, message
from warpwise.simt import types
from warpwise.simt.compiler.closures import Step
from warpwise.simt.frontend.kernel import Kernel, Node
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.array_views import View
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.frame import Frame
from warpwise.simt.machine.memory import GlobalArray
from warpwise.simt.types import NONE, Type, Value
from warpwise.traces import Note


@dataclass
class Counts:
    """Operations in which threads work together, in a function and its callees."""

    barriers: int = 0  #: places where all threads of a block meet
    grid_syncs: int = 0  #: places where all threads of the grid meet
    atomics: int = 0
    shuffles: int = 0
    waits: bool = False  #: a loop may wait for other threads
    cooperative: bool = False  #: there is a ``this_grid()``
    units: bool = False  #: there are words of ``hopper``
    captured: list[GlobalArray | View] = field(default_factory=list)  #: device arrays outside
    #: Bytes of static arrays, by memory and by the place in the text that makes them.
    arrays: dict[tuple[str, object], int] = field(default_factory=dict)

    def add(self, program: Program) -> None:
        """Add those of a function that is called."""
        self.barriers += program.barriers
        self.grid_syncs += program.grid_syncs
        self.atomics += program.atomics
        self.shuffles += program.shuffles
        self.waits |= program.waits
        self.cooperative |= program.cooperative
        self.units |= program.units
        self.captured += program.captured
        self.arrays.update(program.arrays)


@dataclass(frozen=True)
class Program:
    """A function compiled for argument types: ``run(frame, mask)`` leaves ``frame.result``.

    ``barriers`` to ``waits``, and ``captured``: see ``Counts``."""

    kernel: Kernel
    run: Step
    slots: int
    loops: int
    result: Type
    barriers: int
    grid_syncs: int = 0
    atomics: int = 0
    shuffles: int = 0
    waits: bool = False
    notes: tuple[Note, ...] = ()
    captured: tuple[GlobalArray | View, ...] = ()
    arrays: Mapping[tuple[str, object], int] = field(default_factory=dict)
    cooperative: bool = False
    units: bool = False

    def array_bytes(self, space: str) -> int:
        """Return the bytes of its arrays in "shared" (of a block), "local" or "const" memory."""
        return sum(size for (where, _), size in self.arrays.items() if where == space)

    def frame(self, batch: Batch, arguments: tuple[Value, ...], mask: Mask) -> Frame:
        frame = Frame(batch, self.slots, self.loops)
        for slot, value in enumerate(arguments):
            frame.assign(slot, value, mask)
        return frame


@dataclass(frozen=True)
class _Recursion(Program):
    """Stands for a function in a call of itself, until it is compiled for these types."""

    arguments: tuple[Type, ...] = ()

    def frame(self, batch: Batch, arguments: tuple[Value, ...], mask: Mask) -> Frame:
        made: Frame = self.kernel.programs[self.arguments].frame(batch, arguments, mask)
        return made


def recursion(kernel: Kernel, arguments: tuple[Type, ...], result: Type) -> Program:
    """Return what runs where a function calls itself; ``result``: what it returns so far."""

    def run(frame: Frame, mask: Mask) -> Mask | None:
        program: Program = kernel.programs[arguments]
        try:
            return program.run(frame, mask)
        except RecursionError:
            what = message(
                "{function} calls itself more often than the simulator can follow",
                function=Name(kernel.name),
            )
            where = kernel.where(kernel.tree)
            raise UnsupportedError(what, where, "an end to its calls, or a loop") from None

    return _Recursion(kernel, run, 0, 0, result, 0, arguments=arguments)


class Results:
    """The types of the values that a function returns, each with the place that returns it."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.found: list[tuple[Type, Node]] = []
        self.used = False  #: by a call of the function within itself

    def add(self, t: Type, node: Node) -> None:
        self.found.append((t, node))

    def unified(self) -> Type:
        """Return the type of all of them. Raises KernelTypeError if there is none."""
        if not self.found:
            return NONE
        result = self.found[0][0]
        for t, at in self.found[1:]:
            try:
                result = types.unify(result, t)
            except types.TypeMismatch as error:
                name, where = self.kernel.name, self.kernel.where(at)
                try_this = f"end every path of {name} with return ..., and the same kind of value"
                raise KernelTypeError(f"{name} returns {error}", where, try_this) from error
        return result
