"""The real compiler, without a GPU: what CUDA's own tools make of one kernel.

A kernel goes through Numba to PTX, through ``ptxas`` to machine code, and through ``nvdisasm`` back to text by source line. That
says what a simulator cannot know: registers, spills, and which instructions a line became. It says nothing about time.
"""

from warpwise.toolchain.compiled import Compiled, compile_kernel
from warpwise.toolchain.files import Loaded, load
from warpwise.toolchain.machine_code import KINDS, Instruction, Line, by_line, loops
from warpwise.toolchain.tools import missing

__all__ = ["KINDS", "Compiled", "Instruction", "Line", "Loaded", "by_line", "compile_kernel", "load", "loops", "missing"]
