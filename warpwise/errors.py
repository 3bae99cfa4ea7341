"""Every error that a learner can see, in one tree.

    WarpwiseError
    ├── KernelError                 something in a kernel; names file, line and, where known, block and thread
    │   ├── UndefinedNameError      a name that nothing defines, or that has no value yet: most often a misspelling
    │   ├── UnsupportedError        the kernel uses Python that kernels cannot use, or that the simulator does not know
    │   ├── KernelTypeError         an operation on types that do not go together
    │   ├── OutOfBoundsError        an index outside its array
    │   ├── UnwrittenReadError      shared or local memory, or a variable, was read before anything was written there
    │   ├── MisalignedError         an element of 2, 4, 8 or 16 bytes at an address that is no multiple of its size
    │   ├── BarrierError            a barrier that only a part of a block reached
    │   ├── WarpMaskError           a warp-level operation whose mask names a lane that does not take part, or that uses its value
    │   ├── KernelAssertionError    an assert of the kernel that does not hold in some thread
    │   ├── ArithmeticFault         an integer divided by zero
    │   └── StepLimitError          a kernel that did not end within its budget of steps
    ├── LaunchError                 a launch that a GPU would refuse: block too large, too much shared memory, wrong arguments
    ├── TraceError                  a trace that cannot be read, or holds fewer events than were asked for
    ├── LabError                    no such lab, exercise or notebook
    ├── ToolchainError              a machine without CUDA's compiler, or a kernel that it refuses
    ├── MeasureError                a machine that cannot be measured, or a record of measurements that cannot be read
    └── GradingError                submissions that cannot be found or read, or a machine that cannot isolate them
"""

from __future__ import annotations

from dataclasses import dataclass


class WarpwiseError(Exception):
    """The base of all errors that Warpwise raises on purpose: catch it to print one line instead of a traceback."""


@dataclass(frozen=True)
class Where:
    """A place in a kernel: file, line (from 1), the text of that line, and, where one thread is to blame, which.

    ``function`` is the kernel or device function that the line is in. A notebook's cell is a ``file`` whose name has no suffix.
    """

    file: str
    line: int
    text: str
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    function: str = ""

    @property
    def place(self) -> str:
        """``name.py:5`` for a file; cells have no names, so a line of a cell goes by the function that the cell defines."""
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

    def __init__(self, what: str, where: Where | None = None, try_this: str = ""):
        self.what, self.where, self.try_this = what, where, try_this
        parts = [what]
        if where is not None:
            parts.append(f"  at {where}")
        if try_this:
            parts.append(f"  Try: {try_this}")
        super().__init__("\n".join(parts))


class UndefinedNameError(KernelError):
    """A name that nothing defines, or that has no value yet; says which name is meant, if one is near."""


class UnsupportedError(KernelError):
    """Python that a kernel cannot use, or that the simulator does not know; says what to write instead."""


class KernelTypeError(KernelError):
    """An operation on types that do not go together."""


class OutOfBoundsError(KernelError):
    """An index outside its array."""


class UnwrittenReadError(KernelError):
    """Shared or local memory, or a variable, was read where nothing had been written."""


class BarrierError(KernelError):
    """A barrier that only a part of a block reached: on a GPU the block would hang or go wrong."""


class MisalignedError(KernelError):
    """An access to an element at an address that is not a multiple of the element's size, which a GPU faults on."""


class WarpMaskError(KernelError):
    """A warp-level operation (shuffle, vote, match, syncwarp) whose mask and whose lanes do not agree.

    A shuffle that reads from a lane which does not take part is one where what the kernel does depends on the value.
    """


class KernelAssertionError(KernelError):
    """An ``assert`` of a kernel that does not hold in some thread."""


class ArithmeticFault(KernelError):
    """An integer division or remainder by zero, whose result a GPU leaves undefined."""


class StepLimitError(KernelError):
    """A kernel that did not end within its budget of steps."""


class LaunchError(WarpwiseError, ValueError):
    """A launch that a GPU would refuse, or an argument that a model or a picture cannot take; it is a ValueError as well."""


class TraceError(WarpwiseError):
    """A trace that cannot be read, or that does not hold what was asked for."""


class LabError(WarpwiseError):
    """No such lab, exercise or notebook."""


class ToolchainError(WarpwiseError):
    """No CUDA compiler on this machine, no such kernel in a file, or a kernel that the compiler refuses."""


class MeasureError(WarpwiseError):
    """A machine that cannot be measured, a result that is wrong, or a record of measurements that cannot be read."""


class GradingError(WarpwiseError):
    """Submissions that cannot be found or read, or a machine that cannot isolate them."""
