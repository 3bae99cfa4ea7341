"""Compiled functions: what runs, what it needs and returns, and how its threads work together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler.closures import Step
from warpwise.simt.frontend.kernel import Kernel, Node
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.frame import Frame
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
    #: Bytes of static arrays, by memory and by the place in the text that makes them.
    arrays: dict[tuple[str, object], int] = field(default_factory=dict)

    def add(self, program: Program) -> None:
        """Add those of a function that is called."""
        self.barriers += program.barriers
        self.grid_syncs += program.grid_syncs
        self.atomics += program.atomics
        self.shuffles += program.shuffles
        self.waits |= program.waits
        self.arrays.update(program.arrays)


@dataclass(frozen=True)
class Program:
    """A function compiled for argument types: ``run(frame, mask)`` leaves ``frame.result``.

    ``barriers`` to ``waits``: see ``Counts``."""

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
    arrays: Mapping[tuple[str, object], int] = field(default_factory=dict)

    def array_bytes(self, space: str) -> int:
        """Return the bytes of its arrays in "shared" (of a block), "local" or "const" memory."""
        return sum(size for (where, _), size in self.arrays.items() if where == space)

    def frame(self, batch: Batch, arguments: tuple[Value, ...], mask: Mask) -> Frame:
        frame = Frame(batch, self.slots, self.loops)
        for slot, value in enumerate(arguments):
            frame.assign(slot, value, mask)
        return frame


class Results:
    """The types of the values that a function returns, each with the place that returns it."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.found: list[tuple[Type, Node]] = []

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
