"""What ufuncs and generalized ufuncs share: signatures, and kernels made around a function.

The kernel that calls the user's function for one thread is a syntax tree of ours. Like every kernel
it is read and interpreted: no text is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from warpwise.cuda.arrays import DeviceArray
from warpwise.cuda.kernels import SimulatedKernel
from warpwise.cuda.launches import FORALL_THREADS
from warpwise.cuda.layouts import WrongType
from warpwise.errors import LaunchError
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.frontend.signatures import BadSignature, Parameter, signatures_of
from warpwise.simt.frontend.source import from_function
from warpwise.simt.launch import trace
from warpwise.simt.machine.device_memory import device_values

DTypes = tuple[np.dtype[Any], ...]


def signature(given: Any) -> tuple[tuple[Parameter, ...], object]:
    """Return the types of a signature's parameters, and its result as ``Signature`` has it.

    Raises WrongType for what is no signature of numbers and their arrays."""
    try:
        (found,) = signatures_of([given])
    except BadSignature as error:
        raise WrongType(f"{error}: try 'float32(float32, float32)'") from error
    known = tuple(kind for kind in found.arguments if isinstance(kind, Parameter))
    if len(known) != len(found.arguments):
        raise WrongType(f"{given} has types that are not of numbers or of their arrays")
    return known, found.result


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
