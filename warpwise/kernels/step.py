"""One version of a reference kernel: its idea, its launch, and claims about its machine code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Array: TypeAlias = Any  #: NumPy's in the simulator; on a GPU, Numba's or CuPy's
#: Asynchronous copies and products of bfloat16 and TF32 came with compute capability 8.0 (PTX ISA,
#: "cp.async" and "mma").
AMPERE = ("LDGSTS", "HMMA.16816.F32.BF16", "HMMA.1688.F32.TF32")


@dataclass(frozen=True)
class Built:
    """A kernel, how to compile it, and claims about its machine code for compute capability 9.0.

    ``types``: its arguments, as in "float32[::1], uint32". ``threads``: of a block.
    ``blocks_per_sm``: the least number of blocks that fit on an SM at once; registers and shared
    memory must leave room for them. ``opcodes``: prefixes of required instructions, such as
    "LDS.128". ``fma_share``: the least share of FFMA or HMMA in the innermost loop.
    ``local_bytes``: intended local memory per thread.
    """

    kernel: Any
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
    """A numbered version. ``idea``: its novelty in one line. ``run``: its launch, results last.

    On a GPU the arrays are device arrays, and ``run`` returns before the kernel ends; in the
    simulator they are NumPy's.
    """

    name: str
    idea: str
    run: Callable[..., None]
    built: tuple[Built, ...]

    @property
    def capability(self) -> tuple[int, int]:
        """The minimum compute capability: 8.0 for instructions of AMPERE, otherwise 5.0."""
        opcodes = (opcode for built in self.built for opcode in built.opcodes)
        return (8, 0) if any(opcode.startswith(AMPERE) for opcode in opcodes) else (5, 0)
