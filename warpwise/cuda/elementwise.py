"""What ufuncs and generalized ufuncs share: signatures, and kernels made around a function.

The kernel that calls the user's function for one thread is a syntax tree of ours. Like every kernel
it is read and interpreted: no text is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise.cuda.arrays import DeviceArray
from warpwise.cuda.kernels import SimulatedKernel
from warpwise.cuda.launches import FORALL_THREADS
from warpwise.cuda.layouts import WrongType
from warpwise.errors import LaunchError
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.names import TYPE_NAMES, CudaName
from warpwise.simt.frontend.source import from_function
from warpwise.simt.launch import trace
from warpwise.simt.machine.device_memory import device_values

DTypes = tuple[np.dtype[Any], ...]
VOID = ("void", "none", "None")


@dataclass(frozen=True)
class Kind:
    """The type of a parameter: a number, or an array of ``ndim`` dimensions."""

    dtype: np.dtype[Any]
    ndim: int = 0


@dataclass(frozen=True)
class Signature:
    """The types of a function. ``result``: None where it is not said, "void" for nothing."""

    arguments: tuple[Kind, ...]
    result: Kind | str | None


def signature(given: Any) -> Signature:
    """Read a signature: a text, a tuple of Numba's types, or one of Numba's signatures.

    Raises WrongType for anything else."""
    if isinstance(given, str):
        return _of_text(given)
    if isinstance(given, tuple):
        return Signature(tuple(map(_of_type, given)), None)
    if not hasattr(given, "args") or not hasattr(given, "return_type"):
        raise WrongType(f"{given!r} is no signature: try 'float32(float32, float32)'")
    result = given.return_type
    is_void = str(result) in VOID
    kind = "void" if is_void else _of_type(result)
    return Signature(tuple(map(_of_type, given.args)), None if result is None else kind)


def _of_type(given: Any) -> Kind:
    element, ndim = getattr(given, "dtype", given), getattr(given, "ndim", 0)
    name = getattr(element, "path", str(element)).removeprefix("types.")
    if name not in TYPE_NAMES:
        raise WrongType(f"{given} is not a type of numbers or of their arrays")
    return Kind(np.dtype(TYPE_NAMES[name]), ndim)


def _of_text(text: str) -> Signature:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        node = ast.Constant(None)
    if isinstance(node, ast.Tuple):
        return Signature(tuple(map(_of_syntax, node.elts)), None)
    if not isinstance(node, ast.Call):
        raise WrongType(f"{text!r} is no signature: try 'float32(float32, float32)'")
    is_void = ast.unparse(node.func) in VOID
    result = "void" if is_void else _of_syntax(node.func)
    return Signature(tuple(map(_of_syntax, node.args)), result)


def _of_syntax(node: ast.expr) -> Kind:
    if isinstance(node, ast.Subscript):
        axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Kind(_of_syntax(node.value).dtype, len(axes))
    name = ast.unparse(node).rpartition(".")[2]
    if name not in TYPE_NAMES:
        raise WrongType(f"{name} is not a type of numbers")
    return Kind(np.dtype(TYPE_NAMES[name]))


def device_function(function: Any) -> Kernel:
    """Return the device function of a Python function, or of what ``cuda.jit`` made."""
    if isinstance(function, Kernel):
        return function
    return from_function(getattr(function, "py_func", function), True, SimulatedKernel)


def kernel_around(core: Kernel, parameters: list[str], guard: str, call: str) -> Kernel:
    """Return the kernel whose thread ``i`` runs ``call`` if ``i`` is below ``guard``."""
    head = f"def {core.name}({', '.join(parameters)}):"
    text = f"{head}\n    i = cuda.grid(1)\n    if i < {guard}:\n        {call}\n"
    names: dict[str, object] = {"cuda": CudaName(), "core": core, "min": min}
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    lines = dict(enumerate(text.splitlines(), 1))
    see: Callable[[str], object] = names.__getitem__
    return SimulatedKernel(tree, see, core.file, lines, names=lambda: names)


def launched(kernel: Kernel, count: int, arguments: list[Any]) -> None:
    """Run a kernel in ``count`` threads."""
    if count:
        blocks = -(-count // FORALL_THREADS)
        trace(kernel, blocks, FORALL_THREADS, *arguments, record=())


def as_values(argument: Any) -> tuple[np.ndarray, bool]:
    """Return an argument as an array, and if that lies in device memory."""
    values = device_values(argument)
    return (np.asarray(argument), False) if values is None else (values, True)


def on_device(values: np.ndarray, is_device: bool, stream: object) -> DeviceArray:
    """Return a device array: the same memory, or a copy of an array of the host."""
    if is_device:
        return DeviceArray.over(values, stream)
    made = DeviceArray(values.shape, values.strides, values.dtype, stream)
    made.host_values[...] = values
    return made


def need_options(options: dict[str, Any], known: tuple[str, ...]) -> None:
    """Raise LaunchError for another target, TypeError for what no GPU's ufunc has."""
    if (target := options.pop("target", "cuda")) != "cuda":
        raise LaunchError(f"Unsupported target: {target}")
    options.pop("identity", None)
    for name in known:
        if options.pop(name, None):
            what = "caching is" if name == "cache" else f"{name} are"
            raise WrongType(f"{what} not supported")
