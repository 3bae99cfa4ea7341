"""Every error that a learner can see, in one tree.

WarpwiseError
├── KernelError                 a mistake in a kernel; names file, line, block and thread
│   ├── UndefinedNameError      an undefined or not yet assigned name, most often misspelled
│   ├── UnsupportedError        Python that kernels cannot use, or that the simulator lacks
│   ├── KernelTypeError         an operation on types that do not go together
│   ├── OutOfBoundsError        an index outside its array
│   ├── UnwrittenReadError      memory or a variable, read before anything was written there
│   ├── AsyncCopyError          memory, used while an asynchronous copy or product works on it
│   ├── MisalignedError         an element at an address that is not a multiple of its size
│   ├── BarrierError            a barrier that only part of a block reached
│   ├── WarpMaskError           a warp-level operation whose mask and lanes do not agree
│   ├── KernelAssertionError    an assert of the kernel that fails in some thread
│   ├── RaisedError             an exception that the kernel raises: of that class as well
│   ├── ArithmeticFault         an integer divided by zero
│   └── StepLimitError          a kernel that did not end within its budget of steps
│       └── EndlessError        a kernel that can never end
├── LaunchError                 a launch that a GPU would refuse, or a wrong argument
│   ├── LaunchTypeError         an argument of a type that a launch cannot take
│   └── LaunchStateError        a use that does not go with how a kernel was made
├── ClusterError                a mistake among the ranks of a cluster; names ranks and lines
│   ├── DeadlockError           ranks that wait for what no rank does any more
│   ├── MismatchError           shapes, types or arguments that differ between ranks
│   ├── BufferInUseError        an array that is used while a transfer works on it
│   └── ReplicaError            gradients or parameters that ranks should share, and do not
├── TraceError                  a trace that cannot be read, or lacks events asked for
├── LabError                    no such lab, exercise or notebook
├── ToolchainError              no CUDA compiler here, or a kernel that it refuses
├── MeasureError                a machine that cannot be measured, or an unreadable record of one
└── GradingError                submissions that cannot be read, or no way to isolate them

Where Python has an error of the same meaning, ours is one of those too, so that it can be caught by
that name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from warpwise.messages import Chosen, Elsewhere, Message, as_message, message


class WarpwiseError(Exception):
    """The base of all errors that Warpwise raises on purpose.

    Catch it to print one line instead of a traceback."""

    @property
    def told(self) -> Message:
        """The whole error; whatever does not say what its values are is private."""
        return message("{said}", said=Chosen(str(self)))


@dataclass(frozen=True)
class Location:
    """A place in a kernel: file, line (from 1) and its text, and the thread if one is to blame.

    ``function`` is the kernel or device function that the line is in. A notebook's cell is a
    ``file`` whose name has no suffix. In a message it is a value whose block and thread are
    private."""

    file: str
    line: int
    text: str
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    function: str = ""
    private: ClassVar[bool] = False

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
        return self._quoted(place)

    def open(self, spec: str = "") -> str:
        return str(self)

    def hidden(self, spec: str = "") -> str:
        return self._quoted(self.place)

    def _quoted(self, place: str) -> str:
        return f"{place}\n    {self.text}" if self.text else place


class KernelError(WarpwiseError):
    """A mistake in a kernel: what happened, where, and what to try.

    Each of ``what`` and ``try_this`` is a message, or a text without private values. They are kept
    as ``message`` and ``remedy``; the attributes of their own names are the open renderings."""

    def __init__(
        self, what: str | Message, where: Location | None = None, try_this: str | Message = ""
    ) -> None:
        self.message, self.where, self.remedy = as_message(what), where, as_message(try_this)
        Exception.__init__(self, self.told.open())

    @property
    def what(self) -> str:
        return self.message.open()

    @property
    def try_this(self) -> str:
        return self.remedy.open()

    @property
    def told(self) -> Message:
        """What happened, and where; the open rendering also says what to try."""
        remedy = message("\n  Try: {try_this}", try_this=self.remedy)
        advised = {"remedy": Elsewhere(remedy)} if self.try_this else {}
        placed = {"where": self.where} if self.where else {}
        ends = ("\n  at {where}" if placed else "") + ("{remedy}" if advised else "")
        return Message("{what}" + ends, {"what": self.message, **placed, **advised})


class UndefinedNameError(KernelError):
    """An undefined name, or one that has no value yet; suggests a similar name if there is one."""


class UnsupportedError(KernelError):
    """Python that a kernel cannot use, or that the simulator lacks; suggests what to write."""


class KernelTypeError(KernelError, TypeError):
    """An operation on types that do not go together, or a signature that cannot be one.

    It is a TypeError as well."""


class OutOfBoundsError(KernelError, IndexError):
    """An index outside its array. It is an IndexError as well."""


class UnwrittenReadError(KernelError):
    """A read of shared or local memory, or of a variable, where nothing had been written."""


class AsyncCopyError(KernelError):
    """A use of shared memory before the wait for the asynchronous copy that fills it.

    For Hopper's units, which ``warpwise.hopper`` models: any use of shared memory, or of the
    accumulators of a product, that a wait, a fence or an arrival should order with a copy or a
    product."""


class BarrierError(KernelError):
    """A barrier that only part of a block reached: on a GPU the block would hang or go wrong.

    Threads that have ended count as arrived."""


class MisalignedError(KernelError):
    """An access to an address that is not a multiple of the element's size, where a GPU faults.

    Elements have 2, 4, 8 or 16 bytes. An access of 16 bytes, or a tile of TMA and wgmma, counts too
    in a shared array of smaller alignment: there the address is a multiple only by chance."""


class WarpMaskError(KernelError):
    """A warp-level operation (shuffle, vote, match, syncwarp) whose mask and lanes do not agree.

    The mask names a lane that does not take part, or the kernel's result depends on a value that a
    shuffle reads from such a lane."""


class KernelAssertionError(KernelError, AssertionError):
    """An ``assert`` of a kernel that fails in some thread. It is an AssertionError as well."""


class RaisedError(KernelError):
    """An exception that a kernel raises.

    It is of the exception's own class as well, so that ``except ValueError`` catches a
    ``raise ValueError``."""

    @staticmethod
    def of(kind: type[Exception]) -> type[RaisedError]:
        """Return the class for exceptions of a class, always the same one."""
        if kind not in _RAISED:
            module = {"__module__": kind.__module__}
            _RAISED[kind] = type(kind.__name__, (RaisedError, kind), module)
        return _RAISED[kind]

    def __str__(self) -> str:
        return self.told.open()  # some classes show their arguments otherwise: KeyError quotes

    def __reduce__(self) -> tuple[object, ...]:
        return RaisedError, (self.what, self.where, self.try_this)


_RAISED: dict[type[Exception], type[RaisedError]] = {}


class ArithmeticFault(KernelError, ZeroDivisionError):
    """A division or remainder by zero: of integers, or of any numbers with ``debug=True``.

    For integers, a GPU leaves the result undefined. It is a ZeroDivisionError as well."""


class StepLimitError(KernelError):
    """A kernel that did not end within its budget of steps."""


class EndlessError(StepLimitError):
    """A kernel that can never end: nothing changes what the condition of one of its loops reads."""


class LaunchError(WarpwiseError, ValueError):
    """A launch that a GPU would refuse, or an argument that a model or a picture cannot take.

    It is a ValueError as well. What it says is a message, or a text without private values."""

    def __init__(self, what: str | Message) -> None:
        self.message = as_message(what)
        super().__init__(self.message.open())

    @property
    def told(self) -> Message:
        return self.message


class LaunchTypeError(LaunchError, TypeError):
    """An argument, or a part of a configuration, of a type that a launch cannot take.

    It is a TypeError as well, which Numba raises there."""


class LaunchStateError(LaunchError, RuntimeError):
    """A use that does not go with how a kernel was made, such as specializing it twice.

    It is a RuntimeError as well, which Numba raises there."""


class ClusterError(WarpwiseError):
    """A mistake among the ranks of a simulated cluster, see ``warpwise.cluster``.

    What it says is a message, or a text without private values: ranks and shapes are private."""

    def __init__(self, what: str | Message) -> None:
        self.message = as_message(what)
        super().__init__(self.message.open())

    @property
    def told(self) -> Message:
        return self.message


class DeadlockError(ClusterError):
    """Ranks that wait for what no rank does any more: on a cluster the job would hang.

    For example, collectives that ranks call in different order, or a receive without a send."""


class MismatchError(ClusterError):
    """Two ranks whose parts of one transfer differ: in shape, type, root or reduction."""


class BufferInUseError(ClusterError):
    """An array that a rank uses between the start of its transfer and the wait for it."""


class ReplicaError(ClusterError):
    """A gradient not reduced, or reduced twice; or a parameter that differs between ranks."""


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
