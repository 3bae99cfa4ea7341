"""Names and constants in a kernel: variables, and what is known before it runs."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from enum import Enum
from typing import NoReturn, TypeGuard

import numpy as np

from warpwise.errors import KernelTypeError, UndefinedNameError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.compiler import advice, enumerations, optional_values
from warpwise.simt.compiler.array_calls import captured_array, constant_array
from warpwise.simt.compiler.closures import Code, constant_code
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.device_calls import device_function, function_value
from warpwise.simt.compiler.value_types import KnownType, MixedType
from warpwise.simt.frontend.kernel import DeviceFunctionType
from warpwise.simt.frontend.literals import is_scalar_type
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.machine.device_memory import device_values
from warpwise.simt.types import EnumType, Type


def constant(c: Context, node: ast.Constant) -> Code:
    if isinstance(node.value, str):
        return known_value(node.value)
    if types.of_constant(node.value) is None:
        c.refuse(node, f"a kernel cannot hold the constant {node.value!r}", "use numbers")
    return constant_code(node.value)


def name(c: Context, node: ast.Name) -> Code:
    t = c.variables.env.get(node.id)
    if isinstance(t, DeviceFunctionType) and not t.captured:
        return function_value(t.kernel)
    if isinstance(t, KnownType):
        return known_value(t.value)
    if isinstance(t, MixedType):
        c.refuse(t.node, t.what, t.try_this, KernelTypeError)
    if isinstance(t, EnumType):
        return enumerations.plain(_variable(c, node, t), t)
    if t is not None:
        return _variable(c, node, t)
    if node.id in c.variables.assigned:
        what = f"{node.id} may be used before it has a value"
        try_this = f"give {node.id} a value on every path to this line"
        c.refuse(node, what, try_this, UndefinedNameError)
    return static_code(c, node, c.static(node))


def _variable(c: Context, node: ast.Name, t: Type) -> Code:
    variable, site, slot = node.id, c.site(node), c.variables.slot(node.id)
    code = Code(lambda frame, mask: frame.values[slot], t)
    if (node.lineno, node.col_offset) in c.variables.unsure:
        code = Code(lambda frame, mask: frame.value(slot, variable, mask, site), t)
    if variable not in c.variables.mixed:
        return code
    return optional_values.read(code.run, t, c.variables.optional(variable, t))


def static_code(c: Context, node: ast.expr, value: object) -> Code:
    """Compile a name known before the kernel runs: a constant, or one of CUDA's words."""
    if isinstance(value, CudaName):
        read = c.language.values.get(value.path)
        return _word(c, node, value) if read is None else read()
    if isinstance(value, Enum):
        return enumerations.of_constant(value)
    if isinstance(value, np.ndarray):
        return constant_array(c, node, value)
    if (device := device_function(c, value)) is not None:
        return function_value(device)
    if (values := device_values(value)) is not None:
        return captured_array(c, node, values)
    if isinstance(value, (str, np.dtype)) or is_scalar_type(value) or _is_function(c, value):
        return known_value(value)
    if types.of_constant(value) is None:
        kind, try_this = advice.on_outside(node, value)
        c.refuse(node, f"{ast.unparse(node)} is {kind}, which a kernel cannot read", try_this)
    return constant_code(value)


def known_value(value: Hashable) -> Code:
    """Compile a function, a type, a text or a word of CUDA as a value."""
    return Code(lambda frame, mask: (), KnownType(value))


def _is_function(c: Context, value: object) -> TypeGuard[Hashable]:
    return isinstance(value, Hashable) and value in c.language.functions


def _word(c: Context, node: ast.expr, word: CudaName) -> Code:
    """Compile a word of CUDA that is passed on: ``cuda.atomic.add``, ``cuda.threadIdx``."""
    words = c.language.vocabulary
    if word.path in words.called or word.path in words.axes:
        return known_value(word)
    refuse_cuda(c, node, word.path)


def refuse_cuda(c: Context, node: ast.expr, path: str) -> NoReturn:
    """Refuse ``cuda.<path>``: misspelled, unknown, or a function where a value is needed."""
    words = c.language.vocabulary
    what, try_this, is_missing = advice.unknown_cuda(path, ast.unparse(node), words)
    c.refuse(node, what, try_this, UndefinedNameError if is_missing else UnsupportedError)
