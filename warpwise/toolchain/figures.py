"""What the compiler gives a thread of a kernel that was read from text, as whole numbers.

The function is one that Numba can compile as it is, such as ``grading.gpu_kernel`` makes: nothing
is looked up for it, and nothing runs."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from warpwise.metrics.compiler_figures import CompilerFigures
from warpwise.simt.frontend.kernel import Kernel
from warpwise.toolchain.argument_types import argument_types
from warpwise.toolchain.compilation import Compiled, compiled_function
from warpwise.toolchain.inner_loop import with_inner_loop
from warpwise.toolchain.tools import require
from warpwise.toolchain.translate import decorator

#: options of the decorator that decide on registers; they count where they are literals
OPTIONS = ("fastmath", "launch_bounds", "max_registers", "opt")


def figures(compiled: Compiled, kernel: Kernel) -> CompilerFigures:
    """Return what a compiled kernel takes, and what its inner loop is made of."""
    spilled = compiled.spill_load_bytes + compiled.spill_store_bytes
    found = CompilerFigures(compiled.registers, spilled, compiled.stack_bytes)
    return with_inner_loop(found, compiled.machine_code, kernel, compiled.file)


def figures_of_text(
    kernel: Kernel, function: FunctionType, types: str, cc: tuple[int, int]
) -> CompilerFigures:
    """Compile a function that stands for a kernel read from text.

    Raises ToolchainError if there is no compiler, or it refuses the kernel."""
    require()
    options = _literal_options(kernel)
    made = compiled_function(kernel, function, argument_types(kernel, types), cc, options)
    return figures(made, kernel)


def _literal_options(kernel: Kernel) -> dict[str, Any]:
    call, found = decorator(kernel), {}
    for keyword in call.keywords if call else ():
        if keyword.arg in OPTIONS and isinstance(keyword.value, ast.Constant | ast.Tuple):
            try:
                found[keyword.arg] = ast.literal_eval(keyword.value)
            except ValueError:
                continue
    return found
