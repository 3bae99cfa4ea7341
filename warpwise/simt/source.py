"""From a function, or from text, to a kernel: a syntax tree and the names it can see. Nothing here runs the kernel's text.

A kernel made from a Python function sees that function's globals and closure. A kernel made from text (``kernels_in``, for
text nobody trusts) sees what the text itself binds to a recognised import, a literal or another kernel, and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType

import numpy as np

from warpwise.errors import UnsupportedError, Where
from warpwise.simt.constants import NotConstant, constant
from warpwise.simt.types import BOOL, SCALARS
from warpwise.simt.words import TOP

CELL = "this cell"
MODULES = {"math": math, "numpy": np}
_SCALAR_TYPES = tuple(t.type for t in SCALARS)
CUDA_MODULES = ("warpwise.cuda", "numba.cuda")
_CUDA_WORDS = (*TOP, "jit")


class CudaName:
    """Something below ``numba.cuda`` or ``warpwise.cuda``, known by its dotted path: ``grid``, ``shared.array``, ``threadIdx``."""

    def __init__(self, path: str = ""):
        self.path = path

    def __getattr__(self, name: str) -> CudaName:
        if name.startswith("__"):
            raise AttributeError(name)
        return CudaName(f"{self.path}.{name}" if self.path else name)

    def __eq__(self, other) -> bool:
        return isinstance(other, CudaName) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"cuda.{self.path}" if self.path else "cuda"


class Kernel:
    """A kernel or a device function, not yet specialised to the types of its arguments."""

    def __init__(
        self, tree: ast.FunctionDef, lookup: Callable[[str], object], file: str, lines: Mapping[int, str], device: bool = False,
        names: Callable[[], Mapping[str, object]] = dict,
    ):  # fmt: skip
        self.tree, self.lookup, self.file, self.lines, self.device = tree, lookup, file, lines, device
        self.names = names  #: what ``lookup`` knows, apart from Python's own names: for messages
        self.name = tree.name
        self.programs: dict = {}  #: compiled, by argument types
        self.calls: set[Kernel] = set()  #: device functions it was found to call
        self.__name__, self.__doc__ = tree.name, ast.get_docstring(tree)

    @property
    def source(self) -> str:
        """The kernel's text, decorators included."""
        first = min([self.tree.lineno, *(d.lineno for d in self.tree.decorator_list)])
        return "\n".join(self.lines[n] for n in range(first, self.tree.end_lineno + 1))

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(a.arg for a in self.tree.args.args)

    @property
    def is_stub(self) -> bool:
        """True if the body holds nothing but a docstring, ``...`` or ``pass``: an exercise not begun."""
        return all(
            isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in self.tree.body
        )

    def where(self, node: ast.AST, **who) -> Where:
        return Where(self.file, node.lineno, self.lines.get(node.lineno, "").strip(), **who, function=self.name)

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

    Raises UnsupportedError where Python keeps no text (typed at a bare prompt), or where it is no ``def``.
    """
    try:
        text, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise UnsupportedError(
            f"the text of {function.__name__} cannot be found, and kernels are read from their text",
            try_this="define it in a file or a notebook cell",
        ) from error
    lines = {first + i: line.rstrip("\n") for i, line in enumerate(text)}
    try:
        tree = ast.parse(textwrap.dedent("".join(text))).body[0]
    except SyntaxError:  # a lambda in the middle of a call
        tree = None
    if not isinstance(tree, ast.FunctionDef):
        raise UnsupportedError(f"{function.__name__} is not a function defined with def", try_this="write the kernel with def")
    ast.increment_lineno(tree, first - 1)
    see, names = functools.partial(_visible, function), functools.partial(_all_visible, function)
    return make(tree, see, _shown(inspect.getfile(function)), lines, device, names)


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


def resolve(value: object) -> object:
    """A name's value as the compiler knows it: anything of ``numba.cuda`` becomes a CudaName, a Numba type a NumPy one."""
    if isinstance(value, ModuleType):
        if value.__name__ in CUDA_MODULES:
            return CudaName()
        return value
    return _numba_names().get(id(value), value)


def attribute(base: object, name: str) -> object:
    """``base.name``, without running a module's ``__getattr__``. Raises AttributeError."""
    if not isinstance(base, ModuleType):
        return getattr(base, name)
    if name not in vars(base):
        raise AttributeError(name)
    return vars(base)[name]


def _numba_names() -> dict[int, object]:
    """Objects of Numba, if it was imported -> what they are, by identity: this is how an aliased import is seen through."""
    numba = sys.modules.get("numba")
    return {} if numba is None else _names_of(numba, sys.modules.get("numba.cuda"))


@functools.lru_cache(maxsize=4)
def _names_of(numba: ModuleType, module: ModuleType | None) -> dict[int, object]:
    names: dict[int, object] = {id(getattr(numba.types, t.name)): t.type for t in SCALARS if t != BOOL}
    names[id(numba.types.boolean)] = np.bool_
    if module is not None:
        names |= {id(getattr(module, n)): CudaName(n) for n in _CUDA_WORDS if hasattr(module, n)}
    return names


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
            names.update(_imported(node))
        elif isinstance(node, ast.Assign):
            names.update(_literal(node, names))
        elif isinstance(node, ast.FunctionDef) and (options := _jit_options(node, names)) is not None:
            kernels[node.name] = names[node.name] = Kernel(
                node, functools.partial(_named, names), file, lines, options.get("device", False), names.copy
            )
        for name in _bound(node):
            names.setdefault(name, Outside(isinstance(node, ast.FunctionDef)))
    return kernels


@dataclass(frozen=True)
class Outside:
    """What a name stands for that text binds to something else than a constant: known to be there, and no more."""

    is_function: bool


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


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, object]:
    """The names that an import binds, as far as a kernel can use them."""
    found = {}
    for alias in node.names:
        if isinstance(node, ast.Import):
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            value = CudaName() if module in CUDA_MODULES else _Package(module) if module in ("numba", "warpwise") else MODULES.get(module)
            bound = alias.asname or module
        else:
            value, bound = _from_import(node.module or "", alias.name), alias.asname or alias.name
        if value is not None:
            found[bound] = value
    return found


class _Package:
    """``numba`` or ``warpwise`` named in text that does not run: only its CUDA names and its types mean something."""

    def __init__(self, name: str):
        self.__name__ = name

    def __getattr__(self, name: str):
        value = _from_import(self.__dict__["__name__"], name)
        if value is None:
            raise AttributeError(name)
        return value


def _from_import(module: str, name: str) -> object:
    if module in ("numba", "warpwise"):
        dtype = vars(np).get(name) if module == "numba" else None
        return CudaName() if name == "cuda" else dtype if dtype in _SCALAR_TYPES else None
    if module in CUDA_MODULES:
        return CudaName(name)
    return vars(MODULES[module]).get(name) if module in MODULES else None


def _literal(node: ast.Assign, names: dict[str, object]) -> dict[str, object]:
    """``TILE = 16``, ``A, B = 1, TILE + 1``, ``REAL = np.float32`` and ``ZERO = np.float32(0)``: constants as a kernel can see them."""
    try:
        value = _value(node.value, names)
    except NotConstant:
        return {}
    found = {}
    for target in node.targets:
        if isinstance(target, ast.Name):
            found[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(target.elts) == len(value):
            found.update({t.id: v for t, v in zip(target.elts, value, strict=True) if isinstance(t, ast.Name)})
    return found


def _value(node: ast.expr, names: dict[str, object]) -> object:
    scalar = _dotted(node.func if isinstance(node, ast.Call) else node, names)
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


def _jit_options(node: ast.FunctionDef, names: dict[str, object]) -> dict | None:
    """The literal keyword options of ``@cuda.jit``; None if no decorator is ``cuda.jit``."""
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        if _dotted(call.func if call else decorator, names) == CudaName("jit"):
            keywords = call.keywords if call else []
            return {k.arg: k.value.value for k in keywords if isinstance(k.value, ast.Constant)}
    return None


def _dotted(node: ast.AST, names: dict[str, object]) -> object:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        try:
            return attribute(_dotted(node.value, names), node.attr)
        except AttributeError:
            return None
    return None
