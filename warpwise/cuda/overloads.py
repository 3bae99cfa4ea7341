"""What a kernel was compiled for, ``kernel.overloads``, and what it needs of a GPU.

Bytes of memory are those that the text asks for. Registers are an estimate: only NVIDIA's compiler
knows their number, and ``warpwise compile`` asks it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, ValuesView
from dataclasses import dataclass
from typing import Any

from warpwise.cuda.options import bounds_of
from warpwise.devices import H100
from warpwise.model.occupancy import occupancy
from warpwise.simt.compiler.program import Program
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.signatures import (
    Kind,
    Parameter,
    Signature,
    kind_of,
    signatures_of,
    types_of,
)
from warpwise.simt.launch import dimensions
from warpwise.simt.types import ArrayType, TupleType, Type, is_scalar

REGISTERS = 16, 2, 255  # of a thread: at least, for each variable of 64 bits, at most


@dataclass(frozen=True)
class Overload:
    """A kernel compiled for argument types, as far as there is one without a compiler."""

    kernel: Kernel
    program: Program

    @property
    def regs_per_thread(self) -> int:
        """An estimate of a thread's registers: two for each variable."""
        least, each, most = REGISTERS
        return min(least + each * self.program.slots, most)

    @property
    def shared_mem_per_block(self) -> int:
        """The bytes of a block's static shared arrays."""
        return self.program.array_bytes("shared")

    @property
    def local_mem_per_thread(self) -> int:
        """The bytes of a thread's local arrays; a compiler may keep small ones in registers."""
        return self.program.array_bytes("local")

    @property
    def const_mem_size(self) -> int:
        """The bytes of constant arrays."""
        return self.program.array_bytes("const")

    @property
    def max_threads_per_block(self) -> int:
        """The most threads that a block can have: ``launch_bounds``, or the device's limit."""
        return int(min((H100.threads_per_block, *bounds_of(self.kernel.options)[:1])))

    @property
    def cooperative(self) -> bool:
        """True if the kernel asks for its grid, so that all blocks must be resident together."""
        return self.program.cooperative

    def max_cooperative_grid_blocks(self, blockdim: object, dynsmemsize: int = 0) -> int:
        """Return the most blocks that can sync the grid, if a thread needs few registers.

        Those that the device holds at once."""
        threads = math.prod(dimensions(blockdim, "threads"))
        shared = dynsmemsize + self.shared_mem_per_block
        return occupancy(H100, threads, shared_bytes=shared).blocks * H100.sms


class Overloads(Mapping[Any, Overload]):
    """``kernel.overloads[signature]``: what was compiled, by signature or argument types.

    Keys may be Numba's types or text, such as ``("float32[:]", "int64")``."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __getitem__(self, signature: Any) -> Overload:
        found = _types(signature)
        if found not in self.kernel.programs:
            compiled = ", ".join(f"({', '.join(map(str, kinds))})" for kinds in self)
            raise KeyError(f"{self.kernel.name} was compiled for {compiled or 'nothing yet'}")
        return Overload(self.kernel, self.kernel.programs[found])

    def __iter__(self) -> Iterator[tuple[Kind, ...]]:
        return (tuple(map(_kind, types)) for types in self.kernel.programs)

    def __len__(self) -> int:
        return len(self.kernel.programs)

    def values(self) -> ValuesView[Overload]:
        return {t: Overload(self.kernel, p) for t, p in self.kernel.programs.items()}.values()


class BySignature(dict[Any, int]):
    """A number for each overload; it is found by all that ``Overloads`` takes."""

    def __missing__(self, signature: Any) -> int:
        found = _types(signature)
        for kinds, number in self.items():
            if types_of(Signature(kinds)) == found:
                return number
        raise KeyError(signature)


def _types(signature: Any) -> tuple[Type, ...] | None:
    """Return the argument types that a signature, types or text stand for."""
    if isinstance(signature, tuple):
        signature = Signature(tuple(map(_key, signature)))
    if not isinstance(signature, Signature):
        (signature,) = signatures_of(signature)
    return types_of(signature)


def _key(part: Any) -> Kind:
    if isinstance(part, str):
        return signatures_of(f"({part},)")[0].arguments[0]
    return tuple(map(_key, part)) if isinstance(part, tuple) else kind_of(part)


def _kind(t: Type) -> Kind:
    """Return an argument's type as a signature has it.

    The simulator takes arrays of any strides; C order is the usual one."""
    if isinstance(t, TupleType):
        return tuple(map(_kind, t.items))
    if isinstance(t, ArrayType):
        return Parameter(t.dtype, t.ndim, "C")
    return Parameter(t) if is_scalar(t) else None
