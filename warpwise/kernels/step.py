"""One version of a reference kernel: what is new in it, how it is launched, and what its machine code is claimed to be like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: Asynchronous copies and products of bfloat16 and TF32 came with compute capability 8.0 (PTX ISA, "cp.async" and "mma").
AMPERE = ("LDGSTS", "HMMA.16816.F32.BF16", "HMMA.1688.F32.TF32")


@dataclass(frozen=True)
class Built:
    """A kernel as the compiler is to be given it, and what must be true of the machine code (for compute capability 9.0).

    ``types``: its arguments, as in "float32[::1], uint32". ``threads``: of a block. ``blocks_per_sm``: how many blocks fit on an SM at
    once, at least; registers and shared memory must leave room for them. ``opcodes``: beginnings of instructions that must be there,
    such as "LDS.128". ``fma_share``: of the instructions of the innermost loop, at least so many are FFMA or HMMA. ``local_bytes``: local
    memory that is meant, per thread.
    """

    kernel: object
    types: str
    threads: int
    blocks_per_sm: int = 1
    opcodes: tuple[str, ...] = ()
    fma_share: float = 0.0
    local_bytes: int = 0

    @property
    def name(self) -> str:
        """The kernel's name, whichever backend made it."""
        return getattr(self.kernel, "name", "") or self.kernel.py_func.__name__


@dataclass(frozen=True)
class Step:
    """A numbered version. ``idea``: what is new, in one line. ``run``: launches it on arrays, the results last.

    On a GPU the arrays are device arrays, and ``run`` returns before the kernel ends; in the simulator they are NumPy's.
    """

    name: str
    idea: str
    run: Callable[..., None]
    built: tuple[Built, ...]

    @property
    def capability(self) -> tuple[int, int]:
        """The least compute capability: 8.0 where a kernel has one of AMPERE, and 5.0, the least of CUDA 12, where none has."""
        return (8, 0) if any(opcode.startswith(AMPERE) for built in self.built for opcode in built.opcodes) else (5, 0)
