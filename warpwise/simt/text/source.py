"""From a function, or from text, to a kernel: a syntax tree and the names it can see. Nothing here runs the kernel's text.

A kernel made from a Python function sees that function's globals and closure. A kernel made from text (``kernels_in``, for
text nobody trusts) sees what the text itself binds to a recognised import, a literal or another kernel, and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import FunctionType

from warpwise.errors import UnsupportedError, Where
from warpwise.simt.text.aliases import without_aliases
from warpwise.simt.text.assigned import assigned_names, parameters
from warpwise.simt.text.constants import NotConstant, constant
from warpwise.simt.text.lambdas import as_function, decorated, is_lambda, read_lambda
from warpwise.simt.text.literals import MAKERS, made
from warpwise.simt.text.matching import without_match
from warpwise.simt.text.names import CudaName, attribute, imported, resolve
from warpwise.simt.text.numbering import Numbering
from warpwise.simt.text.signatures import signatures
from warpwise.simt.types import ELEMENTS

CELL = "this cell"
_SCALAR_TYPES = tuple(t.type for t in ELEMENTS)


class Kernel:
    """A kernel or a device function, not yet specialised to the types of its arguments."""

    def __init__(
        self, tree: ast.FunctionDef, lookup: Callable[[str], object], file: str, lines: Mapping[int, str], device: bool = False,
        names: Callable[[], Mapping[str, object]] = dict,
    ):  # fmt: skip
        tree = without_aliases(without_match(tree))
        self.tree, self.lookup, self.file, self.lines, self.device = tree, lookup, file, lines, device
        self.names = names  #: what ``lookup`` knows, apart from Python's own names: for messages
        self.name = tree.name
        self.function: FunctionType | None = None  #: what it was read from, unless that was a text: for a compiler
        self.origin: str | None = None  #: the file or cell of that function
        self.base = 0  #: what was added to its line numbers: see ``numbering``
        self.numbering: Numbering | None = None
        self.programs: dict = {}  #: compiled, by argument types
        self.calls: set[Kernel] = set()  #: device functions it was found to call
        self.inner: dict[ast.AST, Kernel] = {}  #: functions that it defines
        self.captured: tuple[str, ...] = ()  #: variables of the function around it that it reads
        self.assigned = assigned_names(tree)
        self.signatures = () if device else signatures(tree)
        self.__name__, self.__doc__ = tree.name, ast.get_docstring(tree)

    @property
    def source(self) -> str:
        """The kernel's text, decorators included."""
        first = min([self.tree.lineno, *(d.lineno for d in self.tree.decorator_list)])
        return "\n".join(self.lines[n] for n in range(first, self.tree.end_lineno + 1))

    @property
    def parameters(self) -> tuple[str, ...]:
        return parameters(self.tree) + self.captured

    @property
    def is_stub(self) -> bool:
        """True if the body holds nothing but a docstring, ``...`` or ``pass``: an exercise not begun."""
        return all(
            isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in self.tree.body
        )

    def where(self, node: ast.AST, **who) -> Where:
        return Where(self.file, node.lineno - self.base, self.lines.get(node.lineno, "").strip(), **who, function=self.name)

    def __repr__(self) -> str:
        return f"<{'device function' if self.device else 'kernel'} {self.name}({', '.join(self.parameters)})>"


def as_kernel(function) -> Kernel:
    """The kernel behind a ``Kernel``, a function that ``numba.cuda.jit`` made, or a plain function.

    Raises UnsupportedError if there is no source text to read.
    """
    if isinstance(function, Kernel):
        return function
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        raise UnsupportedError(f"not a kernel: {function!r}", try_this="pass a function decorated with @cuda.jit")
    options = getattr(function, "targetoptions", {})
    return _from_function(plain, bool(options.get("device")))


@functools.lru_cache(maxsize=256)
def _from_function(function: FunctionType, device: bool) -> Kernel:
    return from_function(function, device)


def from_function(function: FunctionType, device: bool = False, make: type[Kernel] = Kernel) -> Kernel:
    """Read a function's text into a Kernel (or a subclass, ``make``).

    Raises UnsupportedError where Python keeps no text (typed at a bare prompt), or where it cannot be told which is the function's.
    """
    try:
        tree, lines = (read_lambda if is_lambda(function) else _read)(function) or (None, {})
    except (OSError, TypeError) as error:
        raise UnsupportedError(
            f"the text of {function.__name__} cannot be found, and kernels are read from their text",
            try_this="define it in a file or a notebook cell",
        ) from error
    if tree is None:
        raise UnsupportedError(f"{function.__name__} is not a function defined with def", try_this="write the kernel with def")
    see, names = functools.partial(_visible, function), functools.partial(_all_visible, function)
    kernel = make(tree, see, _shown(inspect.getfile(function)), lines, device, names)
    kernel.function, kernel.origin = function, function.__code__.co_filename
    return kernel


def _read(function: FunctionType) -> tuple[ast.FunctionDef, dict[int, str]] | None:
    """The tree and the lines of a ``def``."""
    text, first = inspect.getsourcelines(function)
    try:
        tree = ast.parse(textwrap.dedent("".join(text))).body[0]
    except SyntaxError:
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    ast.increment_lineno(tree, first - 1)
    return tree, {first + i: line.rstrip("\n") for i, line in enumerate(text)}


def _shown(file: str) -> str:
    """A file's name as a learner knows it: a notebook's cell has a file only for the kernel."""
    name = file.replace("\\", "/").rsplit("/", 1)
    return CELL if "ipykernel_" in file or name[-1].startswith("<ipython") else name[-1]


def _visible(function: FunctionType, name: str) -> object:
    """What ``name`` means inside ``function``: closure, then globals, then builtins. Raises KeyError."""
    closed = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if name in closed:
        return closed[name].cell_contents
    if name in function.__globals__:
        return function.__globals__[name]
    return vars(builtins)[name]


def _all_visible(function: FunctionType) -> dict[str, object]:
    return function.__globals__ | {name: None for name in function.__code__.co_freevars}


def kernels_in(text: str, file: str = CELL, first_line: int = 1) -> dict[str, Kernel]:
    """The kernels and device functions that ``text`` defines, by name, read from its syntax tree. Nothing of it runs.

    Names that ``text`` binds to an import of warpwise, numba, numpy or math, to a literal or to another kernel can be used
    in a kernel; everything else is unknown there. Raises UnsupportedError if the text is not Python.
    """
    try:
        tree = ast.parse(text)
        lines = {first_line + i: line for i, line in enumerate(text.splitlines())}
        ast.increment_lineno(tree, first_line - 1)
        return _defined(tree, file, lines)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        what = f"{error.msg} on line {line + first_line - 1}" if line else str(error)
        raise UnsupportedError(f"{file} is not Python: {what}", try_this="run the cell once and mend the syntax error") from error
    except (RecursionError, MemoryError) as error:
        raise UnsupportedError(f"{file} is nested too deeply to be read", try_this="write shorter expressions") from error


def _defined(tree: ast.Module, file: str, lines: dict[int, str]) -> dict[str, Kernel]:
    names: dict[str, object] = {}
    kernels: dict[str, Kernel] = {}
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(imported(node))
        elif (found := _function(node, names)) is not None:
            tree, options = found
            see = functools.partial(_named, names)
            kernels[tree.name] = names[tree.name] = Kernel(tree, see, file, lines, options.get("device", False), names.copy)
        elif isinstance(node, ast.Assign):
            names.update(_literal(node, names))
        elif isinstance(node, ast.ClassDef) and any(_dotted(base, names) is IntEnum for base in node.bases):
            names[node.name] = Members(node, names)
        for name in _bound(node):
            names.setdefault(name, Outside(isinstance(node, ast.FunctionDef), isinstance(node, ast.ClassDef)))
    return kernels


@dataclass(frozen=True)
class Outside:
    """What a name stands for that text binds to something else than a constant: known to be there, and no more."""

    is_function: bool
    is_class: bool = False


class Members:
    """The members of an ``IntEnum`` that a text defines: plain integers, as in a kernel."""

    def __init__(self, node: ast.ClassDef, names: dict[str, object]):
        for found in (_literal(part, names) for part in node.body if isinstance(part, ast.Assign)):
            vars(self).update({name: value for name, value in found.items() if isinstance(value, int) and not name.startswith("_")})


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a text binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.alias):
            yield part.asname or part.name.partition(".")[0]


def _named(names: dict[str, object], name: str) -> object:
    return names[name] if name in names else vars(builtins)[name]


def _literal(node: ast.Assign, names: dict[str, object]) -> dict[str, object]:
    """``TILE = 16``, ``A, B = 1, TILE + 1``, ``REAL = np.float32`` and ``ZERO = np.float32(0)``: constants as a kernel can see them."""
    pairs = []
    for target in node.targets:
        parts, values = [target], [node.value]
        if isinstance(target, ast.Tuple):
            parts, values = target.elts, _parts(node.value, names)
        pairs += zip(parts, values, strict=True) if len(parts) == len(values) else []
    found = {}
    for target, value in pairs:
        with contextlib.suppress(NotConstant):
            if isinstance(target, ast.Name):
                found[target.id] = _value(value, names)
    return found


def _parts(value: ast.expr, names: dict[str, object]) -> list[ast.expr]:
    """What the parts of a tuple are, as expressions; none where it is no tuple."""
    if isinstance(value, ast.Tuple):
        return value.elts
    with contextlib.suppress(NotConstant):
        known = _value(value, names)
        return [ast.Subscript(value, ast.Constant(i), ast.Load()) for i in range(len(known))] if isinstance(known, tuple) else []
    return []


def _value(node: ast.expr, names: dict[str, object]) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    scalar = _dotted(node.func if isinstance(node, ast.Call) else node, names)
    if isinstance(node, ast.Call) and any(scalar is maker for maker in MAKERS):
        return made(scalar, node, lambda part: _dotted(part, names), lambda name: names[name])
    if scalar not in _SCALAR_TYPES:
        return constant(node, lambda name: names[name])
    if not isinstance(node, ast.Call):
        return scalar
    if len(node.args) != 1 or node.keywords:
        raise NotConstant(ast.unparse(node))
    try:
        return scalar(constant(node.args[0], lambda name: names[name]))
    except (OverflowError, TypeError, ValueError) as error:
        raise NotConstant(str(error)) from error


def _function(node: ast.stmt, names: dict[str, object]) -> tuple[ast.FunctionDef, dict] | None:
    """A function that ``cuda.jit`` decorates, a lambda too, and the options that are literals; None for anything else."""
    made = []
    if isinstance(node, ast.FunctionDef):
        calls = [(d.func, d.keywords) if isinstance(d, ast.Call) else (d, []) for d in node.decorator_list]
        made = [(node, jit, keywords) for jit, keywords in calls]
    elif isinstance(node, ast.Assign) and (found := decorated(node)) is not None:
        inner, jit, keywords = found
        made = [(as_function(inner, node.targets[0].id), jit, keywords)]
    for tree, jit, keywords in made:
        if _dotted(jit, names) == CudaName("jit"):
            return tree, {k.arg: k.value.value for k in keywords if isinstance(k.value, ast.Constant)}
    return None


def _dotted(node: ast.AST, names: dict[str, object]) -> object:
    if isinstance(node, ast.Name):
        return resolve(names.get(node.id))
    if isinstance(node, ast.Attribute):
        try:
            return resolve(attribute(_dotted(node.value, names), node.attr))
        except AttributeError:
            return None
    return None
