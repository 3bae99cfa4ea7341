"""The device functions that a kernel calls, itself or through others, with the lines that do."""

from __future__ import annotations

from warpwise.simt.frontend.kernel import Kernel
from warpwise.traces import Function


def called_by(kernel: Kernel) -> dict[Kernel, set[int]]:
    """Return the functions that a compiled kernel calls, and the lines that call them."""
    found: dict[Kernel, set[int]] = {}
    waiting = [kernel]
    while waiting:
        for function, lines in waiting.pop().calls.items():
            if function not in found and function is not kernel:
                waiting.append(function)
            found.setdefault(function, set()).update(lines)
    found.pop(kernel, None)
    return found


def functions_of(kernel: Kernel) -> tuple[Function, ...]:
    """Return the functions that a compiled kernel calls, in the order of their lines."""
    found = (_function(function, lines) for function, lines in called_by(kernel).items())
    return tuple(sorted(found, key=lambda function: function.first))


def _function(kernel: Kernel, called_on: set[int]) -> Function:
    tree = kernel.tree
    last = tree.end_lineno or tree.lineno
    return Function(kernel.name, tree.lineno, last, kernel.base, tuple(sorted(called_on)))
