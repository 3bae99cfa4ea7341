"""Every error that a learner can see, in one tree.

WarpwiseError
├── KernelError                 a mistake in a kernel; names file, line, block and thread
│   ├── UndefinedNameError      an undefined or not yet assigned name, most often misspelled
│   ├── UnsupportedError        Python that kernels cannot use, or that the simulator lacks
│   ├── KernelTypeError         an operation on types that do not go together
│   ├── OutOfBoundsError        an index outside its array
│   ├── UnwrittenReadError      memory or a variable, read before anything was written there
│   ├── MisalignedError         an element at an address that is no multiple of its size
│   ├── BarrierError            a barrier that only part of a block reached
│   ├── WarpMaskError           a warp-level operation whose mask and lanes do not agree
│   ├── KernelAssertionError    an assert of the kernel that fails in some thread
│   ├── ArithmeticFault         an integer divided by zero
│   └── StepLimitError          a kernel that did not end within its budget of steps
├── LaunchError                 a launch that a GPU would refuse, or a wrong argument
├── TraceError                  a trace that cannot be read, or lacks events asked for
├── LabError                    no such lab, exercise or notebook
├── ToolchainError              no CUDA compiler here, or a kernel that it refuses
├── MeasureError                a machine that cannot be measured, or an unreadable record of one
└── GradingError                submissions that cannot be read, or no way to isolate them
"""

from __future__ import annotations

from dataclasses import dataclass


class WarpwiseError(Exception):
    """The base of all errors that Warpwise raises on purpose.

    Catch it to print one line instead of a traceback."""


@dataclass(frozen=True)
class Location:
    """A place in a kernel: file, line (from 1) and its text, and the thread if one is to blame.

    ``function`` is the kernel or device function that the line is in. A notebook's cell is a
    ``file`` whose name has no suffix."""

    file: str
    line: int
    text: str
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    function: str = ""

    @property
    def place(self) -> str:
        """``name.py:5`` for a file; for a cell, which has no name, the function it defines."""
        if "." in self.file:
            return f"{self.file}:{self.line}"
        if not self.function:
            return f"line {self.line} of {self.file}"
        if self.line < 1:  # the grader reads the exercise's cell last and numbers its lines from 1
            return f"{self.function}, which an earlier cell defines"
        return f"line {self.line} of the cell that defines {self.function}"

    def __str__(self) -> str:
        place = self.place
        if self.thread is not None:
            place += f", block {self.block}, thread {self.thread}"
        return f"{place}\n    {self.text}" if self.text else place


class KernelError(WarpwiseError):
    """A mistake in a kernel: what happened, where, and what to try."""

    def __init__(self, what: str, where: Location | None = None, try_this: str = "") -> None:
        self.what, self.where, self.try_this = what, where, try_this
        parts = [what]
        if where is not None:
            parts.append(f"  at {where}")
        if try_this:
            parts.append(f"  Try: {try_this}")
        super().__init__("\n".join(parts))


class UndefinedNameError(KernelError):
    """An undefined name, or one that has no value yet; suggests a similar name if there is one."""


class UnsupportedError(KernelError):
    """Python that a kernel cannot use, or that the simulator lacks; suggests what to write."""


class KernelTypeError(KernelError):
    """An operation on types that do not go together."""


class OutOfBoundsError(KernelError):
    """An index outside its array."""


class UnwrittenReadError(KernelError):
    """A read of shared or local memory, or of a variable, where nothing had been written."""


class BarrierError(KernelError):
    """A barrier that only part of a block reached: on a GPU the block would hang or go wrong."""


class MisalignedError(KernelError):
    """An access to an address that is no multiple of the element's size, where a GPU faults.

    Elements have 2, 4, 8 or 16 bytes."""


class WarpMaskError(KernelError):
    """A warp-level operation (shuffle, vote, match, syncwarp) whose mask and lanes do not agree.

    The mask names a lane that does not take part, or the kernel's result depends on a value that a
    shuffle reads from such a lane."""


class KernelAssertionError(KernelError):
    """An ``assert`` of a kernel that fails in some thread."""


class ArithmeticFault(KernelError):
    """An integer division or remainder by zero, whose result a GPU leaves undefined."""


class StepLimitError(KernelError):
    """A kernel that did not end within its budget of steps."""


class LaunchError(WarpwiseError, ValueError):
    """A launch that a GPU would refuse, or an argument that a model or a picture cannot take.

    It is a ValueError as well."""


class TraceError(WarpwiseError):
    """A trace that cannot be read, or that does not hold what was asked for."""


class LabError(WarpwiseError):
    """No such lab, exercise or notebook."""


class ToolchainError(WarpwiseError):
    """No CUDA compiler here, no such kernel in a file, or a kernel that the compiler refuses."""


class MeasureError(WarpwiseError):
    """A machine that cannot be measured, a wrong result, or a record that cannot be read."""


class GradingError(WarpwiseError):
    """Submissions that cannot be found or read, or a machine that cannot isolate them."""
