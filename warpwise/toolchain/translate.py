"""Translate the simulator's kernel into a function that Numba's compiler understands.

The compiler looks names up in a function's globals and closure. There, ``cuda`` may be
``warpwise.cuda`` and a device function may be the simulator's. So a new function is made from the
same code, with globals and closure in which these are replaced by Numba's own. The old function and
its module stay as they are. Library code, Numba's own included, is not copied."""

from __future__ import annotations

import ast
from functools import reduce
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from warpwise.cuda.numba_backend import load, package, part
from warpwise.errors import ToolchainError
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.names import CudaName, resolve

Options = dict[str, Any]  #: of @cuda.jit: numbers, texts and flags
Done = dict[object, Any]  #: what was translated so far, for functions that call each other

cuda: Any = load()
part("random")  # makes cuda.random, which a kernel may use
OWN = package() == "numba-cuda"  #: so Numba's types and modules are the compiler's own
LIBRARIES = (*(["numba"] if OWN else []), "numba_cuda_mlir", "numpy", "math", "builtins")
OF_DEVICE_FUNCTIONS = ("inline", "forceinline", "fastmath")


def for_numba(kernel: Kernel) -> FunctionType:
    """Return the kernel's function, with Numba's names for the simulator's.

    Raises ToolchainError if the kernel was read from text."""
    if kernel.function is None:
        raise ToolchainError(f"{kernel.name} was read from text; the compiler needs the function")
    copy = _copy(kernel.function)
    _fill(copy, kernel.function, {})
    return copy


def options_of(kernel: Any) -> Options:
    """Return the options of ``@cuda.jit``: Numba's, or the simulator's evaluated in its module."""
    if not isinstance(kernel, Kernel):
        return dict(kernel.targetoptions)
    call = decorator(kernel)
    return {k.arg: evaluated(k.value, kernel) for k in call.keywords if k.arg} if call else {}


def decorator(kernel: Kernel) -> ast.Call | None:
    """Return the call in ``@cuda.jit(...)``, if the kernel was decorated with one."""
    calls = [node for node in kernel.tree.decorator_list if isinstance(node, ast.Call)]
    names = (ast.unparse(call.func).rpartition(".")[2] for call in calls)
    return next((call for call, name in zip(calls, names, strict=True) if name == "jit"), None)


def evaluated(node: ast.expr, kernel: Kernel) -> object:
    """Evaluate an argument of the decorator in the kernel's module.

    Names mean there what they meant when the decorator ran."""
    code = compile(ast.Expression(node), kernel.file, "eval")
    try:
        return eval(code, kernel.function.__globals__ if kernel.function else {})
    except Exception as error:
        raise ToolchainError(
            f"the decorator of {kernel.name} cannot be read: {ast.unparse(node)}: {error}"
        ) from error


def _copy(function: FunctionType) -> FunctionType:
    """Return the same code with globals and a closure of its own, not filled yet."""
    code, names = function.__code__, dict(function.__globals__)
    cells = tuple(CellType() for _ in code.co_freevars)
    copy = FunctionType(code, names, function.__name__, function.__defaults__, cells)
    for name in ("__kwdefaults__", "__qualname__", "__module__"):
        setattr(copy, name, getattr(function, name))
    return copy


def _fill(copy: FunctionType, function: FunctionType, done: Done) -> None:
    """Give a copy's globals and closure their translated values."""
    names, scope = _names(function.__code__), copy.__globals__
    for name in names & scope.keys():
        scope[name] = _translated(scope[name], names, done)
    for new, old in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        try:
            new.cell_contents = _translated(old.cell_contents, names, done)
        except ValueError:  # the variable has no value yet; the compiler says so
            continue


def _names(code: CodeType) -> set[str]:
    """Return every name of a function but local variables, with attributes and inner functions."""
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def _translated(value: object, names: set[str], done: Done) -> object:
    if not OWN:  # kernels that import numba.cuda are compiled by its successor
        value = _successors(value)
    if isinstance(value, CudaName):
        return _word(value.path)
    if isinstance(value, ModuleType):
        return _module(value, names, done)
    if isinstance(value, Kernel) or (hasattr(value, "py_func") and hasattr(value, "targetoptions")):
        return _device_function(value, done)
    return value


def _word(path: str) -> object:
    """Return what the compiler's package has for a word of ``numba.cuda``."""
    try:
        return reduce(getattr, path.split("."), cuda) if path else cuda
    except AttributeError as error:
        raise ToolchainError(f"{cuda.__name__} has no {path}") from error


def _successors(value: object) -> object:
    """Return what numba-cuda-mlir calls a type of Numba's; a word of ``numba.cuda`` by its path."""
    known = resolve(value)
    if type(value).__module__.startswith("numba.core.types"):
        return getattr(part("types"), str(value), value)
    return known if isinstance(known, CudaName) else value


def _module(module: ModuleType, names: set[str], done: Done) -> ModuleType:
    """Return a module, or a copy of what ``names`` can reach in it if some has to be translated."""
    if module.__name__ == "warpwise.cuda":
        numbas: ModuleType = cuda
        return numbas
    if module in done or module.__name__.partition(".")[0] in LIBRARIES:
        known: ModuleType = done.get(module, module)
        return known
    done[module] = module
    found = {name: vars(module)[name] for name in names if name in vars(module)}
    translated = {name: _translated(value, names, done) for name, value in found.items()}
    if all(translated[name] is found[name] for name in found):
        return module
    done[module] = copy = ModuleType(module.__name__)
    vars(copy).update(translated)
    return copy


def _device_function(value: Any, done: Done) -> object:
    """Return a device function for Numba, with its names translated, and with line numbers."""
    function = value.function if isinstance(value, Kernel) else value.py_func
    if function is None or function.__module__.partition(".")[0] in LIBRARIES:
        return value
    if function not in done:
        copy = _copy(function)
        given = options_of(value)
        kept = [name for name in OF_DEVICE_FUNCTIONS if given.get(name) is not None]
        options = {name: given[name] for name in kept}
        done[function] = cuda.jit(device=True, lineinfo=True, **options)(copy)
        _fill(copy, function, done)
    return done[function]
