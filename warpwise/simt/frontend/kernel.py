"""Kernels as they are read, and the line numbers of the device functions that they call.

Counters and events name a source line by its number, and every cell begins with line 1. So a
function from another file or notebook cell is numbered beyond its caller's file: from 1001 on for
the first other file, from 2001 for the second. Messages keep the numbers of its own file. A
function of the kernel's own file that is called by one from elsewhere begins its own count of
further files."""

from __future__ import annotations

import ast
import copy
import linecache
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any, TypeAlias

from warpwise.errors import KernelError, KernelTypeError, Location
from warpwise.simt.frontend.aliases import without_aliases
from warpwise.simt.frontend.assigned import assigned_names, parameters
from warpwise.simt.frontend.matching import without_match
from warpwise.simt.frontend.signatures import BadSignature, Signature
from warpwise.simt.types import KernelType, Type

STEP = 1000
#: Syntax that has a place in the text.
Node: TypeAlias = (
    ast.stmt | ast.expr | ast.arg | ast.keyword | ast.alias | ast.pattern | ast.excepthandler
)


class Kernel:
    """A kernel or a device function, not yet specialised to the types of its arguments."""

    def __init__(
        self,
        tree: ast.FunctionDef,
        lookup: Callable[[str], object],
        file: str,
        lines: Mapping[int, str],
        device: bool = False,
        names: Callable[[], Mapping[str, object]] = dict,
    ):
        self._read = tree
        self.lookup, self.file, self.lines, self.device = lookup, file, lines, device
        self.names = names  #: the names that ``lookup`` knows, without Python's own: for messages
        self.name = tree.name
        self.function: FunctionType | None = None  #: the function that was read; None for a text
        self.origin: str | None = None  #: the file or cell of that function
        self.base = 0  #: added to its line numbers: see ``Numbering``
        self.numbering: Numbering | None = None
        #: What the compiler made of it, a ``Program`` by argument types.
        self.programs: dict[tuple[Type, ...], Any] = {}
        #: What is found of those that are being compiled: their ``Results``, by argument types.
        self.begun: dict[tuple[Type, ...], Any] = {}
        #: device functions that it calls, known once compiled, and the lines that do
        self.calls: dict[Kernel, set[int]] = {}
        self.inner: dict[ast.AST, Kernel] = {}  #: functions that it defines
        self.captured: tuple[str, ...] = ()  #: variables of the enclosing function that it reads
        self.constants: Mapping[str, object] = {}  #: parameters that are known where it is called
        self.specialised: dict[object, Kernel] = {}  #: copies that know some, by these
        self.general = self  #: the one that they are copies of
        self.signed: tuple[Signature, ...] = ()  #: the signatures that it is compiled for
        self.options: Mapping[str, object] = {}  #: of ``cuda.jit``
        self.refused: KernelError | None = None  #: why it can never be compiled
        self.__name__, self.__doc__ = tree.name, ast.get_docstring(tree)

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The function's syntax, rewritten on first use: most functions of a text never run."""
        return without_aliases(without_match(self._read))

    @cached_property
    def assigned(self) -> frozenset[str]:
        return assigned_names(self.tree)

    def with_constant(self, parameter: str, value: object) -> Kernel:
        """Return a copy that knows the value of a parameter, always the same one."""
        constants = {**self.constants, parameter: value}
        known = self.general.specialised
        key = frozenset(constants.items())
        if key not in known:
            known[key] = made = object.__new__(type(self))  # copy.copy may give the same one back
            vars(made).update(vars(self))
            made.constants, made.programs, made.begun = constants, {}, {}
            made.calls, made.inner = {}, {}
        return known[key]

    @property
    def debug(self) -> bool:
        """True where Numba checks for errors as Python does."""
        return bool(self.options.get("debug"))

    @property
    def source(self) -> str:
        """The kernel's text, decorators included."""
        first = min([self.tree.lineno, *(d.lineno for d in self.tree.decorator_list)])
        last = self.tree.end_lineno or self.tree.lineno
        return "\n".join(self.lines[n] for n in range(first, last + 1))

    @property
    def parameters(self) -> tuple[str, ...]:
        return parameters(self.tree) + self.captured

    @property
    def is_stub(self) -> bool:
        """True for a body of only a docstring, ``...`` or ``pass``: an exercise not begun."""
        return all(
            isinstance(s, ast.Pass)
            or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
            for s in self.tree.body
        )

    def where(self, node: Node) -> Location:
        line, text = node.lineno - self.base, self.lines.get(node.lineno, "").strip()
        return Location(self.file, line, text, function=self.name)

    def sign(self, read: Callable[[], tuple[Signature, ...]]) -> None:
        """Read its signatures; one that Numba refuses makes ``refused``."""
        try:
            self.signed = read()
        except BadSignature as error:
            self.refused = KernelTypeError(
                f"the signature of {self.name} cannot be used: {error}",
                self.where(self.tree.decorator_list[0] if self.tree.decorator_list else self.tree),
                'write it as "void(float32[:], int32)", a type for each parameter',
            )

    def __repr__(self) -> str:
        kind = "device function" if self.device else "kernel"
        return f"<{kind} {self.name}({', '.join(self.parameters)})>"


@dataclass(frozen=True)
class DeviceFunctionType(KernelType):
    """A device function as a value: known before the launch, so nothing is passed at run time.

    ``captured``: the types of variables that one within a kernel takes along when it is passed on;
    their values are passed, as a tuple."""

    kernel: Kernel
    captured: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"device function {self.kernel.name}"


class Numbering:
    """The line numbers of each file that a kernel's functions come from.

    A kernel shares one with all functions that were moved for it. ``origin``: the kernel's file."""

    def __init__(self, origin: str):
        self.bases = {origin: 0}
        self.next = _beyond(len(linecache.getlines(origin)))
        self.moved: dict[Kernel, Kernel] = {}

    def base(self, origin: str) -> int:
        """Return what is added to the line numbers of a file."""
        if origin not in self.bases:
            self.bases[origin] = self.next
            self.next += _beyond(len(linecache.getlines(origin)))
        return self.bases[origin]


def beside(caller: Kernel, called: Kernel) -> Kernel:
    """Return ``called`` with the line numbers that it has for ``caller``.

    That is itself, or a copy with moved lines if it comes from another file."""
    if called.origin is None or called.base:
        return called
    if called.origin == caller.origin and not caller.base:
        return called  # by far the most frequent case, and no file is read
    numbering = numbering_of(caller)
    if numbering is None or not (base := numbering.base(called.origin)):
        return called
    if called not in numbering.moved:
        numbering.moved[called] = _moved(called, base, numbering)
    return numbering.moved[called]


def numbering_of(kernel: Kernel) -> Numbering | None:
    """Return a kernel's numbering, made on first use; None for a kernel read from a text."""
    if kernel.numbering is None and kernel.origin is not None:
        kernel.numbering = Numbering(kernel.origin)
    return kernel.numbering


def _moved(kernel: Kernel, base: int, numbering: Numbering) -> Kernel:
    tree = ast.increment_lineno(copy.deepcopy(kernel.tree), base)
    lines = {number + base: text for number, text in kernel.lines.items()}
    moved = type(kernel)(tree, kernel.lookup, kernel.file, lines, kernel.device, kernel.names)
    moved.function, moved.origin = kernel.function, kernel.origin
    moved.signed, moved.options, moved.refused = kernel.signed, kernel.options, kernel.refused
    moved.base, moved.numbering = base, numbering
    return moved


def _beyond(lines: int) -> int:
    return STEP * (1 + lines // STEP)
