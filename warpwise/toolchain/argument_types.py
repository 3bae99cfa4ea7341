"""The types of a kernel's arguments: written by hand, from its signature, from values, or from launches that it has been through."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import types
from numba.core.errors import NumbaError
from numba.core.typing.templates import Signature
from numba.cuda.typing.typeof import typeof
from numba.np.numpy_support import from_dtype

from warpwise.errors import ToolchainError
from warpwise.simt.text.source import Kernel, as_kernel
from warpwise.simt.types import ArrayType, TupleType
from warpwise.toolchain.translate import decorator, evaluated

HOW = 'give them, as in --types "float32[:, ::1], float32[::1], int64"'


def argument_types(kernel, given=None) -> tuple:
    """Numba's types for a kernel's arguments.

    ``given``: a text such as "float32[::1], int64", or a sequence of Numba types or of values like those of a launch. Without it, the
    types of the decorator's signature, else those of the kernel's first launch. Raises ToolchainError if there are none, or too few.
    """
    read = as_kernel(kernel)
    found = _given(given) if given is not None else _signature(read) or _launched(read) or _launched_on_gpu(kernel)
    written = f"{read.name}({', '.join(read.parameters)})"
    if found is None:
        raise ToolchainError(f"the types of {written} are not known: {HOW}")
    if len(found) != len(read.parameters):
        takes = f"{len(read.parameters)} argument{'s' * (len(read.parameters) != 1)}"
        raise ToolchainError(f"{written} takes {takes}, and {len(found)} types are given: {HOW}")
    return found


def _given(given) -> tuple:
    if isinstance(given, str):
        return _from_text(given)
    if isinstance(given, Signature):
        return tuple(given.args)
    return tuple(t if isinstance(t, types.Type) else _type_of(t) for t in (given if isinstance(given, (tuple, list)) else (given,)))


def _type_of(value) -> types.Type:
    value = getattr(value, "host_values", value)  # what warpwise.cuda.to_device made
    return from_dtype(value) if isinstance(value, np.dtype) else typeof(value)


def _from_text(text: str) -> tuple:
    """``float32[:], int64`` or ``void(float32[:], int64)``: an expression of Numba's types, as in a decorator."""
    try:
        found = eval(text, {"__builtins__": {}}, vars(types))
    except Exception as error:
        raise ToolchainError(f"{text!r} is no list of Numba's types ({error}): {HOW}") from error
    items = found if isinstance(found, tuple) else (found,)
    if not all(isinstance(item, (types.Type, Signature)) for item in items):
        raise ToolchainError(f"{text!r} is no list of Numba's types: {HOW}")
    return _given(found)


def _signature(kernel: Kernel) -> tuple | None:
    """From ``@cuda.jit("void(float32[:])")`` and its like; of several signatures the first."""
    call = decorator(kernel)
    if call is None or not call.args:
        return None
    found = evaluated(call.args[0], kernel)
    return _given(found[0] if isinstance(found, list) else found)


def _launched(kernel: Kernel) -> tuple | None:
    """From the simulator's first launch of the kernel, whoever made it: a check, a trace or the text's own."""
    for arguments in kernel.programs:
        try:
            return tuple(map(_numba_type, arguments))
        except NumbaError as error:
            raise ToolchainError(f"the compiler has no type for an argument of {kernel.name}'s launch: {error}") from error
    return None


def _launched_on_gpu(kernel) -> tuple | None:
    """From Numba's first launch of the kernel: a dispatcher keeps what it compiled, by the types of the arguments."""
    return None if isinstance(kernel, Kernel) else next(iter(getattr(kernel, "overloads", ())), None)


def _numba_type(t) -> types.Type:
    """The simulator's type as Numba's. The simulator takes arrays of any strides, and does not keep them: C order is the usual one."""
    if isinstance(t, ArrayType):
        return types.Array(from_dtype(t.dtype), t.ndim, "C")
    if isinstance(t, TupleType):
        named = namedtuple("named", t.names) if t.names else None
        return types.BaseTuple.from_types([_numba_type(item) for item in t.items], named)
    return from_dtype(t)
