"""Read a kernel from a function or from text: a syntax tree and the names it can see.

Nothing here runs the kernel's text.

A kernel made from a Python function sees that function's globals and closure. A kernel made from
text (``kernels_in``, for text nobody trusts) sees what the text itself binds to a recognised
import, a literal or another kernel, and nothing else."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from types import FunctionType
from typing import Any, TypeVar

from warpwise.errors import UnsupportedError
from warpwise.simt.frontend.constants import Lookup, NotConstant, constant
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.lambdas import as_function, decorated, is_lambda, read_lambda
from warpwise.simt.frontend.literals import MAKERS, is_scalar_type, made
from warpwise.simt.frontend.names import CudaName, attribute, imported, resolve
from warpwise.simt.frontend.signatures import signatures_in

CELL = "this cell"
APART = 1000  #: lines
Made = TypeVar("Made", bound=Kernel)
Options = dict[str, object]  #: of ``cuda.jit``, those that are literals


def as_kernel(function: object) -> Kernel:
    """Return the kernel of a ``Kernel``, of what ``numba.cuda.jit`` made, or of a plain function.

    Raises UnsupportedError if there is no source text to read."""
    if isinstance(function, Kernel):
        return function
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        raise UnsupportedError(
            f"not a kernel: {function!r}", try_this="pass a function decorated with @cuda.jit"
        )
    options = getattr(function, "targetoptions", {})
    return _from_function(plain, bool(options.get("device")), bool(options.get("debug")))


@functools.lru_cache(maxsize=256)
def _from_function(function: FunctionType, device: bool, debug: bool) -> Kernel:
    kernel = from_function(function, device, Kernel)
    kernel.options = {"debug": debug}
    decorators = (d for d in kernel.tree.decorator_list if isinstance(d, ast.Call) and d.args)
    for call in decorators:
        if ast.unparse(call.func).split(".")[-1] == "jit":
            kernel.sign(functools.partial(signatures_in, call.args[0], kernel.lookup))
    return kernel


def from_function(function: FunctionType, device: bool, make: type[Made]) -> Made:
    """Read a function's text into a Kernel (or a subclass, ``make``).

    Raises UnsupportedError where Python keeps no text (typed at a bare prompt), or where the
    function's own text is ambiguous."""
    try:
        tree, lines = (read_lambda if is_lambda(function) else _read)(function) or (None, {})
    except (OSError, TypeError) as error:
        what = (
            f"the text of {function.__name__} cannot be found, and kernels are read from their text"
        )
        try_this = "define it in a file or a notebook cell, or keep what exec runs in linecache"
        raise UnsupportedError(what, try_this=try_this) from error
    if tree is None:
        what = f"{function.__name__} is not a function defined with def"
        raise UnsupportedError(what, try_this="write the kernel with def")
    see, names = functools.partial(_visible, function), functools.partial(_all_visible, function)
    kernel: Made = make(tree, see, shown(inspect.getfile(function)), lines, device, names)
    kernel.function, kernel.origin = function, function.__code__.co_filename
    kernel.lookup = functools.partial(_visible_or_own, see, kernel)
    return kernel


def _visible_or_own(see: Lookup, kernel: Kernel, name: str) -> object:
    """Look ``name`` up; a function's own may be unbound as yet, while it is decorated."""
    try:
        return see(name)
    except KeyError:
        if name == kernel.name:
            return kernel
        raise


def _read(function: FunctionType) -> tuple[ast.FunctionDef, dict[int, str]] | None:
    """Return the tree and the lines of a ``def``."""
    text, first = inspect.getsourcelines(function)
    try:
        tree = ast.parse(textwrap.dedent("".join(text))).body[0]
    except SyntaxError:
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    if tree.name != function.__code__.co_name:
        what = f"{function.__name__} is no longer where it was: its file has changed since"
        raise UnsupportedError(what, try_this="load it anew, with the text as it is now")
    ast.increment_lineno(tree, first - 1)
    return tree, {first + i: line.rstrip("\n") for i, line in enumerate(text)}


def shown(file: str) -> str:
    """Name a file as a learner knows it: the file of a notebook cell is ``CELL``."""
    name = file.replace("\\", "/").rsplit("/", 1)
    return CELL if "ipykernel_" in file or name[-1].startswith("<ipython") else name[-1]


def _visible(function: FunctionType, name: str) -> object:
    """Look ``name`` up inside ``function``: closure, then globals, then builtins.

    Raises KeyError."""
    closed = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if name in closed:
        try:
            return closed[name].cell_contents
        except ValueError:  # bound later
            raise KeyError(name) from None
    if name in function.__globals__:
        return function.__globals__[name]
    return vars(builtins)[name]


def _all_visible(function: FunctionType) -> dict[str, object]:
    return function.__globals__ | {name: None for name in function.__code__.co_freevars}


def kernels_in(
    text: str, file: str = CELL, first_line: int = 1, before: Sequence[str] = ()
) -> dict[str, Kernel]:
    """Read the kernels and device functions that ``text`` defines, by name, running nothing.

    So are those of the texts that stand ``before`` it, whose lines have smaller numbers.

    Names that ``text`` binds to an import of warpwise, numba, numpy or math, to a literal or to
    another kernel can be used in a kernel; everything else is unknown there. Raises
    UnsupportedError if the text is not Python."""
    try:
        parts = [_statements(*part) for part in _numbered(before, first_line)]
        parts.append(_parsed(text, first_line))
        body = [statement for part in parts for statement in part.body]
        lines = {number: line for part in parts for number, line in part.lines.items()}
        return _defined(body, file, lines)
    except (SyntaxError, ValueError) as error:
        what = str(error)
        if isinstance(error, SyntaxError) and error.lineno:
            what = f"{error.msg} on line {error.lineno + first_line - 1}"
        try_this = "run the cell once and mend the syntax error"
        raise UnsupportedError(f"{file} is not Python: {what}", try_this=try_this) from error
    except (RecursionError, MemoryError) as error:
        what = f"{file} is nested too deeply to be read"
        raise UnsupportedError(what, try_this="write shorter expressions") from error


def _numbered(texts: Sequence[str], end: int) -> list[tuple[str, int]]:
    """Pair texts with the numbers of their first lines, all below ``end``.

    Each begins a multiple of APART away, so that a text keeps its numbers, and what was read of it
    serves again, when another one is left out behind it."""
    pairs = []
    for text in reversed(texts):
        end -= APART * (1 + text.count("\n") // APART)
        pairs.append((text, end))
    return pairs[::-1]


@dataclass(frozen=True)
class _Part:
    """A text that was read: its statements, each with the names it binds, and its lines."""

    body: Sequence[tuple[ast.stmt, Sequence[str]]]
    lines: dict[int, str]


def _parsed(text: str, first_line: int) -> _Part:
    tree = ast.parse(text)
    ast.increment_lineno(tree, first_line - 1)
    body = [(node, tuple(_bound(node))) for node in tree.body]
    return _Part(body, {first_line + i: line for i, line in enumerate(text.splitlines())})


_statements = functools.lru_cache(maxsize=256)(_parsed)  # nobody changes them


def _defined(
    body: Sequence[tuple[ast.stmt, Sequence[str]]], file: str, lines: dict[int, str]
) -> dict[str, Kernel]:
    names: dict[str, object] = {}
    kernels: dict[str, Kernel] = {}
    for node, bound in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(imported(node))
        elif (found := _function(node, names)) is not None:
            see, device = functools.partial(_named, names), bool(found.options.get("device"))
            kernel = Kernel(found.tree, see, file, lines, device, names.copy)
            kernel.options = found.options
            if found.signature is not None:
                kernel.sign(functools.partial(signatures_in, found.signature, _bound_to(names)))
            kernels[found.name] = names[found.name] = kernel
        elif isinstance(node, ast.Assign):
            names.update(_literal(node, names))
        elif isinstance(node, ast.ClassDef) and (kind := _kind_of_enum(node, names)) is not None:
            with contextlib.suppress(TypeError, ValueError):
                names[node.name] = kind(node.name, _members(node, names))
        value = node.value if isinstance(node, ast.Assign) else node
        outside = Outside(isinstance(node, ast.FunctionDef), isinstance(node, ast.ClassDef), value)
        for name in bound:
            names.setdefault(name, outside)
    return kernels


def _kind_of_enum(node: ast.ClassDef, names: dict[str, object]) -> Callable[..., Any] | None:
    bases = [_dotted(base, names) for base in node.bases]
    return next((kind for kind in (IntEnum, Enum) if bases == [kind]), None)


def _members(node: ast.ClassDef, names: dict[str, object]) -> dict[str, Any]:
    """Return the members of an enumeration that a text defines, as far as they are literals."""
    found: dict[str, Any] = {}
    for part in node.body:
        if isinstance(part, ast.Assign):
            found |= _literal(part, names | found)
    return {name: value for name, value in found.items() if not name.startswith("_")}


@dataclass(frozen=True)
class Outside:
    """The value of a name that text binds to anything but a constant: it exists, and no more."""

    is_function: bool
    is_class: bool = False
    node: ast.AST | None = None  #: what it was bound to


def _bound_to(names: dict[str, object]) -> Callable[[str], object]:
    """Return the meaning of names in a signature: values, or the syntax that they stand for."""

    def meaning(name: str) -> object:
        value = names[name]
        return value.node if isinstance(value, Outside) else value

    return meaning


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a text binds."""
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
    """Return the constants that an assignment gives to a kernel.

    ``TILE = 16``, ``A, B = 1, TILE + 1``, ``REAL = np.float32``, ``ZERO = np.float32(0)``."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
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
    """Return the parts of a tuple as expressions; none where it is no tuple."""
    if isinstance(value, ast.Tuple):
        return value.elts
    known: object = ()
    with contextlib.suppress(NotConstant):
        known = _value(value, names)
    count = len(known) if isinstance(known, tuple) else 0
    return [ast.Subscript(value, ast.Constant(i), ast.Load()) for i in range(count)]


def _value(node: ast.expr, names: dict[str, object]) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    scalar = _dotted(node.func if isinstance(node, ast.Call) else node, names)
    if isinstance(node, ast.Call) and any(scalar is maker for maker in MAKERS):
        return made(scalar, node, lambda part: _dotted(part, names), lambda name: names[name])
    if not is_scalar_type(scalar):
        return constant(node, lambda name: names[name])
    if not isinstance(node, ast.Call):
        return scalar
    if len(node.args) != 1 or node.keywords:
        raise NotConstant(node)
    try:
        value: object = scalar(constant(node.args[0], lambda name: names[name]))
        return value
    except (OverflowError, TypeError, ValueError) as error:
        raise NotConstant(str(error)) from error


@dataclass(frozen=True)
class _Decorated:
    """A function that ``cuda.jit`` makes a kernel, and what that is called with."""

    name: str
    tree: ast.FunctionDef
    options: Options
    signature: ast.expr | None


def _function(node: ast.stmt, names: dict[str, object]) -> _Decorated | None:
    """Return the function or lambda that ``cuda.jit`` decorates; None for anything else."""
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            if (found := _jitted(node.name, node, decorator, names)) is not None:
                return found
    elif isinstance(node, ast.Assign) and (made := decorated(node)) is not None:
        name, inner, jit = made
        if isinstance(inner, ast.Lambda):
            return _jitted(name, as_function(inner, name), jit, names)
        plain = names.get(inner.id)
        if isinstance(plain, Outside) and isinstance(plain.node, ast.FunctionDef):
            return _jitted(name, plain.node, jit, names)
    return None


def _jitted(
    name: str, tree: ast.FunctionDef, jit: ast.expr, names: dict[str, object]
) -> _Decorated | None:
    """Return a function made a kernel by ``jit`` or ``jit(...)``; its options that are literals."""
    call = jit if isinstance(jit, ast.Call) else None
    if _dotted(call.func if call else jit, names) != CudaName("jit"):
        return None
    keywords = call.keywords if call else []
    options: Options = {
        k.arg: k.value.value for k in keywords if k.arg and isinstance(k.value, ast.Constant)
    }
    return _Decorated(name, tree, options, call.args[0] if call and call.args else None)


def _dotted(node: ast.AST, names: dict[str, object]) -> object:
    if isinstance(node, ast.Name):
        return resolve(names.get(node.id))
    if isinstance(node, ast.Attribute):
        try:
            return resolve(attribute(_dotted(node.value, names), node.attr))
        except AttributeError:
            return None
    return None
