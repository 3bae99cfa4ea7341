"""From a kernel as the simulator has it to a function that Numba's compiler understands.

The compiler looks names up in a function's globals and closure. There, ``cuda`` may be ``warpwise.cuda`` and a device function may be
the simulator's. So a new function is made from the same code, with globals and closure in which these stand for Numba's own. The
old function and its module stay as they are. Library code, Numba's own included, is taken as it is.
"""

from __future__ import annotations

import ast
from functools import reduce
from types import CellType, CodeType, FunctionType, ModuleType

from numba import cuda
from numba.cuda import random  # noqa: F401  makes cuda.random, which a kernel's names may lead to

from warpwise.errors import ToolchainError
from warpwise.simt.text.source import CudaName, Kernel

LIBRARIES = ("numba", "numpy", "math", "builtins")
OF_DEVICE_FUNCTIONS = ("inline", "forceinline", "fastmath")


def for_numba(kernel: Kernel) -> FunctionType:
    """The kernel's function, with Numba's names for the simulator's. Raises ToolchainError if it has only a text."""
    if kernel.function is None:
        raise ToolchainError(f"{kernel.name} was read from text; the compiler needs the function")
    copy = _copy(kernel.function)
    _fill(copy, kernel.function, {})
    return copy


def options_of(kernel) -> dict:
    """The options of ``@cuda.jit``, of a Numba dispatcher or, evaluated where it was written, of the simulator's decorator."""
    if not isinstance(kernel, Kernel):
        return dict(kernel.targetoptions)
    call = decorator(kernel)
    return {k.arg: evaluated(k.value, kernel) for k in call.keywords if k.arg} if call else {}


def decorator(kernel: Kernel) -> ast.Call | None:
    """The call in ``@cuda.jit(...)``, if the kernel was decorated with one."""
    calls = [node for node in kernel.tree.decorator_list if isinstance(node, ast.Call)]
    return next((call for call in calls if ast.unparse(call.func).rpartition(".")[2] == "jit"), None)


def evaluated(node: ast.expr, kernel: Kernel) -> object:
    """What an argument of the decorator is, seen from the kernel's module. Its names mean there what they meant when it ran."""
    code = compile(ast.Expression(node), kernel.file, "eval")
    try:
        return eval(code, kernel.function.__globals__)
    except Exception as error:
        raise ToolchainError(f"the decorator of {kernel.name} cannot be read: {ast.unparse(node)}: {error}") from error


def _copy(function: FunctionType) -> FunctionType:
    """The same code, with globals and closure of its own, not filled yet."""
    cells = tuple(CellType() for _ in function.__code__.co_freevars)
    copy = FunctionType(function.__code__, dict(function.__globals__), function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__, copy.__qualname__, copy.__module__ = function.__kwdefaults__, function.__qualname__, function.__module__
    return copy


def _fill(copy: FunctionType, function: FunctionType, done: dict) -> None:
    """Give a copy's globals and closure their translated values. ``done``: what was translated so far, for functions in a circle."""
    names, scope = _names(function.__code__), copy.__globals__
    for name in names & scope.keys():
        scope[name] = _translated(scope[name], names, done)
    for new, old in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        try:
            new.cell_contents = _translated(old.cell_contents, names, done)
        except ValueError:  # the variable has no value yet; the compiler says so
            continue


def _names(code: CodeType) -> set[str]:
    """Every name of a function that is not a local variable, attributes and inner functions included."""
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*inner)


def _translated(value: object, names: set[str], done: dict) -> object:
    if isinstance(value, CudaName):
        return reduce(getattr, value.path.split("."), cuda) if value.path else cuda
    if isinstance(value, ModuleType):
        return _module(value, names, done)
    if isinstance(value, Kernel) or (hasattr(value, "py_func") and hasattr(value, "targetoptions")):
        return _device_function(value, done)
    return value


def _module(module: ModuleType, names: set[str], done: dict) -> ModuleType:
    """A module, or one that holds only what ``names`` can reach in it if some of that has to be translated."""
    if module.__name__ == "warpwise.cuda":
        return cuda
    if module in done or module.__name__.partition(".")[0] in LIBRARIES:
        return done.get(module, module)
    done[module] = module
    found = {name: vars(module)[name] for name in names if name in vars(module)}
    translated = {name: _translated(value, names, done) for name, value in found.items()}
    if any(translated[name] is not found[name] for name in found):
        done[module] = ModuleType(module.__name__)
        vars(done[module]).update(translated)
    return done[module]


def _device_function(value, done: dict) -> object:
    """A device function for Numba, with its own names translated, and with line numbers."""
    function = value.function if isinstance(value, Kernel) else value.py_func
    if function is None or function.__module__.partition(".")[0] in LIBRARIES:
        return value
    if function not in done:
        copy = _copy(function)
        options = {name: option for name, option in options_of(value).items() if name in OF_DEVICE_FUNCTIONS and option is not None}
        done[function] = cuda.jit(device=True, lineinfo=True, **options)(copy)
        _fill(copy, function, done)
    return done[function]
