"""The real compiler, without a GPU: CUDA's own tools on one kernel.

A kernel goes through Numba to PTX, through ``ptxas`` to machine code, and through ``nvdisasm`` back
to text by source line. That shows what a simulator cannot know: registers, spills, and the
instructions that a line became. It shows nothing about time."""

from warpwise.kernel_files import Loaded, load
from warpwise.toolchain.argument_types import numba_types
from warpwise.toolchain.compilation import Compiled, compile_kernel
from warpwise.toolchain.machine_code import KINDS, Instruction, Line, by_line, loops
from warpwise.toolchain.tools import missing

__all__ = [
    "KINDS",
    "Compiled",
    "Instruction",
    "Line",
    "Loaded",
    "by_line",
    "compile_kernel",
    "load",
    "loops",
    "missing",
    "numba_types",
]
