"""The types of a kernel's arguments: given as text or values, or from its signature or a launch."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

import numpy as np

from warpwise.cuda.numba_backend import part
from warpwise.errors import ToolchainError
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.source import as_kernel
from warpwise.simt.types import ArrayType, TupleType
from warpwise.toolchain.translate import decorator, evaluated

types, typeof = part("types"), part("typing.typeof").typeof
from_dtype, NumbaError = part("np.numpy_support").from_dtype, part("core.errors").NumbaError
Types = tuple[Any, ...]  #: of Numba

HOW = 'give them, as in --types "float32[:, ::1], float32[::1], int64"'


def argument_types(kernel: object, given: object = None) -> Types:
    """Return Numba's types for a kernel's arguments.

    ``given``: a text such as "float32[::1], int64", or a sequence of Numba types or of values like
    those of a launch. Without it, the types of the decorator's signature, or else those of the
    kernel's first launch. Raises ToolchainError if there are none, or too few."""
    read = as_kernel(kernel)
    found = (
        _given(given)
        if given is not None
        else _signature(read) or _launched(read) or _launched_on_gpu(kernel)
    )
    written = f"{read.name}({', '.join(read.parameters)})"
    if found is None:
        raise ToolchainError(f"the types of {written} are not known: {HOW}")
    if len(found) != len(read.parameters):
        takes = f"{len(read.parameters)} argument{'s' * (len(read.parameters) != 1)}"
        raise ToolchainError(f"{written} takes {takes}, and {len(found)} types are given: {HOW}")
    return found


def _given(given: Any) -> Types:
    if isinstance(given, str):
        return _from_text(given)
    if _is_signature(given):
        return tuple(given.args)
    items = given if isinstance(given, (tuple, list)) else (given,)
    return tuple(item if isinstance(item, types.Type) else _type_of(item) for item in items)


def _is_signature(value: object) -> bool:
    """Return True for a signature: Numba and its packages for CUDA have a class for it each."""
    return hasattr(value, "args") and hasattr(value, "return_type")


def _type_of(value: object) -> Any:
    value = getattr(value, "host_values", value)  # made by warpwise.cuda.to_device
    return from_dtype(value) if isinstance(value, np.dtype) else typeof(value)


def _from_text(text: str) -> Types:
    """Evaluate an expression of Numba's types, as in a decorator.

    For example ``float32[:], int64`` or ``void(float32[:], int64)``."""
    try:
        found = eval(text, {"__builtins__": {}}, vars(types))
    except Exception as error:
        raise ToolchainError(f"{text!r} is not a list of Numba's types ({error}): {HOW}") from error
    items = found if isinstance(found, tuple) else (found,)
    if not all(isinstance(item, types.Type) or _is_signature(item) for item in items):
        raise ToolchainError(f"{text!r} is not a list of Numba's types: {HOW}")
    return _given(found)


def _signature(kernel: Kernel) -> Types | None:
    """Read the types from ``@cuda.jit("void(float32[:])")``; of several signatures the first."""
    call = decorator(kernel)
    if call is None or not call.args:
        return None
    found = evaluated(call.args[0], kernel)
    return _given(found[0] if isinstance(found, list) else found)


def _launched(kernel: Kernel) -> Types | None:
    """Read the types from the simulator's first launch: by a check, a trace or the file itself."""
    arguments = next(iter(kernel.programs), None)
    if arguments is None:
        return None
    try:
        return numba_types(arguments)
    except NumbaError as error:
        raise ToolchainError(
            f"the compiler has no type for an argument of {kernel.name}'s launch: {error}"
        ) from error


def numba_types(arguments: Iterable[Any]) -> Types:
    """Return the simulator's types of a launch's arguments as Numba's."""
    return tuple(map(_numba_type, arguments))


def _launched_on_gpu(kernel: object) -> Types | None:
    """Read the types from Numba's first launch: a dispatcher keeps what it compiled by them."""
    if isinstance(kernel, Kernel):
        return None
    return next(iter(getattr(kernel, "overloads", ())), None)


def _numba_type(t: Any) -> Any:
    """Return the simulator's type as Numba's.

    The simulator takes arrays of any strides and does not keep them: C order is the usual one."""
    if isinstance(t, ArrayType):
        found = types.Array(from_dtype(t.dtype), t.ndim, "C")
    elif isinstance(t, TupleType):
        named = namedtuple("named", t.names) if t.names else None
        found = types.BaseTuple.from_types([_numba_type(item) for item in t.items], named)
    else:
        found = from_dtype(t)
    return found
