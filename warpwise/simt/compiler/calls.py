"""Calls: what a called name means, and Python's own functions, casts and functions of numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NoReturn

import numpy as np

from warpwise.simt import types
from warpwise.simt.builtins.intrinsics import ROUND, ROUND_DIGITS, Function
from warpwise.simt.builtins.operations import unary_run
from warpwise.simt.compiler import advice, complex_numbers
from warpwise.simt.compiler.arguments import (
    arguments,
    is_starred,
    need_real,
    numbers,
    only_numbers,
    spread,
)
from warpwise.simt.compiler.arithmetic import binary
from warpwise.simt.compiler.attributes import method_call
from warpwise.simt.compiler.closures import (
    Code,
    Number,
    Run,
    constant_code,
    constant_number,
    converted,
    items_of,
    joined,
    known,
    truth,
)
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.device_calls import call_device, device_function
from warpwise.simt.compiler.names import refuse_cuda
from warpwise.simt.compiler.value_types import KnownType
from warpwise.simt.compiler.warp_calls import grid_sync_call
from warpwise.simt.frontend.kernel import DeviceFunctionType
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import (
    BOOL,
    FLOAT64,
    INT64,
    ArrayType,
    DType,
    TupleType,
    Type,
    Value,
)

NOT_FINITE = "inf -inf +inf nan infinity -infinity".split()


def call(c: Context, node: ast.Call) -> Code:
    function = _called_value(c, node.func)
    if function is NotImplemented:
        method = grid_sync_call(c, node) or method_call(c, node)
        return _refuse_call(c, node, function) if method is None else method
    if isinstance(function, CudaName):
        word = c.language.words.get(function.path)
        if word is None:
            refuse_cuda(c, node.func, function.path)
        return word(c, spread(c, node))
    if isinstance(function, DeviceFunctionType):
        return call_device(c, node, function.kernel)
    if (device := device_function(c, function)) is not None:
        return call_device(c, node, device)
    try:
        handler = c.language.functions.get(function)
    except TypeError:  # not hashable, and so none of them
        handler = None
    if handler is None:
        _refuse_call(c, node, function)
    if node.keywords:
        named = ", ".join(f"{k.arg}=" for k in node.keywords if k.arg) or "**"
        what = f"{ast.unparse(node.func)} takes plain positional arguments here"
        c.refuse(node, what, f"leave {named} out")
    return handler(c, node)


def _called_value(c: Context, node: ast.expr) -> object:
    """Return what is called, as far as it is known: a name, or ``make(3)`` and ``functions[0]``."""
    if not isinstance(node, (ast.Call, ast.Subscript, ast.Lambda)):
        return c.static(node)
    t = c.expression(node).type
    if isinstance(t, KnownType):
        return t.value
    return t if isinstance(t, DeviceFunctionType) else NotImplemented


def _refuse_call(c: Context, node: ast.Call, function: object) -> NoReturn:
    try_this = advice.on_call(node, function, c.variables.env, c.kernel.names())
    c.refuse(node, f"{ast.unparse(node.func)} cannot be called in a kernel", try_this)


# --- functions of numbers ---


def function_call(c: Context, node: ast.Call, function: Function) -> Code:
    """Compile a call of a function that has an entry in a table of ``builtins``."""
    if node.keywords:
        what = f"{ast.unparse(node.func)} takes plain positional arguments"
        c.refuse(node, what, f"leave {node.keywords[0].arg or '**'}= out")
    return _applied(c, node, function, arguments(c, node, function.arity))


def _applied(c: Context, node: ast.Call, function: Function, found: Sequence[Number]) -> Code:
    need_real(node, found)
    signature = function.sign(*(a.type for a in found))
    runs = [converted(a, t).run for a, t in zip(found, signature.arguments, strict=True)]
    computed, result = signature.arguments[0], signature.result
    if function.op_class == "special":
        c.cost.special(computed)
    elif function.op_class:
        c.cost.add(function.op_class)
    else:
        c.cost.arithmetic(computed)
    c.cost.flop(computed, function.flops)
    if result == FLOAT64:
        c.notes.on_function(node, found)
    return Code(_called(function.run, runs, result), result)


def _called(compute: Callable[..., Value], runs: list[Run], result: Type) -> Run:
    """Return the closure of ``compute``; uniform int64 and bool results are Python's own."""
    if result in (INT64, BOOL):
        plain: type[int] = int if result == INT64 else bool

        def run_plain(frame: Frame, mask: Mask) -> Value:
            value = compute(*(run(frame, mask) for run in runs))
            return value if isinstance(value, np.ndarray) else plain(value)

        return run_plain
    if len(runs) == 1:
        (only,) = runs
        return lambda frame, mask: compute(only(frame, mask))
    return lambda frame, mask: compute(*(run(frame, mask) for run in runs))


def cast(c: Context, node: ast.Call, rule: Callable[[DType], DType]) -> Code:
    """Compile ``int(x)``, ``np.float32(x)`` and the like; ``rule``: argument type -> result's."""
    literal = node.args[0] if node.args and isinstance(node.args[0], ast.Constant) else None
    if literal is not None and len(node.args) == 1 and isinstance(literal.value, str):
        return _number_in_text(c, node, literal.value)
    (argument,) = arguments(c, node, 1)
    t = rule(argument.type)
    if t != BOOL:
        need_real(node, [argument])
    if literal is None:
        c.cost.add("conversion", int(argument.type != t))
    if t == BOOL:
        return truth(argument)
    code = converted(argument, t)
    return code if literal is None else Number(_always(known(code.run)), t)


def _always(value: Value) -> Run:
    return lambda frame, mask: value


def _number_in_text(c: Context, node: ast.Call, text: str) -> Code:
    """Compile ``float("inf")``."""
    if c.static(node.func) is float and text.strip().lower() in NOT_FINITE:
        return constant_number(float(text), FLOAT64)
    what = f"{ast.unparse(node)}: a kernel has no strings"
    c.refuse(node, what, "write the number without quotes")


# --- Python's functions ---


def length(c: Context, node: ast.Call) -> Code:
    argument = c.expression(node.args[0]) if len(node.args) == 1 else None
    if argument is not None and isinstance(argument.type, ArrayType):
        run = argument.run
        return Number(lambda f, m: run(f, m).shape[0], INT64)
    if argument is not None and isinstance(argument.type, TupleType):
        return constant_code(len(argument.type.items))
    what = "len() takes an array or a tuple in a kernel"
    c.refuse(node, what, "len(x) of an array x; a number has no length")


def _values(c: Context, node: ast.Call) -> list[Number]:
    """Compile the numbers of ``max(a, b)``, and of ``max(values)`` for a tuple."""
    if len(node.args) != 1 or is_starred(node):
        return numbers(c, node)
    values = c.expression(node.args[0])
    if not isinstance(values.type, TupleType):
        return []
    return only_numbers(items_of(values.run, values.type)) or []


def extreme(
    c: Context, node: ast.Call, on_ints: Callable[[int, int], int], ufunc: np.ufunc
) -> Number:
    """Compile ``min(a, b)`` and ``max(a, b)``."""
    found = _values(c, node)
    if not found or (len(node.args) == 1 and is_starred(node) and len(found) < 2):
        what = f"{ast.unparse(node.func)} takes two or more numbers in a kernel"
        c.refuse(node, what, "write a loop over the array")
    need_real(node, found)
    t = reduce(np.promote_types, (a.type for a in found))
    runs = [converted(a, t).run for a in found]
    c.cost.arithmetic(t, len(runs) - 1)

    def run(frame: Frame, mask: Mask) -> Value:
        result = runs[0](frame, mask)
        for part in runs[1:]:
            value = part(frame, mask)
            plain = type(result) is int and type(value) is int
            result = on_ints(result, value) if plain else ufunc(result, value)
        return result

    return Number(run, t)


def sum_(c: Context, node: ast.Call) -> Code:
    found = _values(c, node) if len(node.args) == 1 else []
    if not found:
        _refuse_call(c, node, sum)
    return reduce(lambda a, b: binary(c, node, a, ast.Add(), b), found)


def power(c: Context, node: ast.Call) -> Code:
    base, exponent = arguments(c, node, 2)
    return binary(c, node, base, ast.Pow(), exponent)


def divmod_(c: Context, node: ast.Call) -> Code:
    a, b = arguments(c, node, 2)
    operators: list[ast.operator] = [ast.FloorDiv(), ast.Mod()]
    parts: list[Code] = [binary(c, node, a, op, b) for op in operators]
    return joined(parts, TupleType(tuple(part.type for part in parts)))


def round_(c: Context, node: ast.Call) -> Code:
    function = ROUND_DIGITS if len(node.args) == 2 else ROUND
    return _applied(c, node, function, arguments(c, node, function.arity))


def absolute(c: Context, node: ast.Call) -> Code:
    (argument,) = arguments(c, node, 1)
    if types.is_complex(argument.type):
        return complex_numbers.absolute(c, argument)
    c.cost.arithmetic(argument.type)
    code = converted(argument, types.absolute(argument.type))
    return Number(unary_run(abs, code.run), code.type)
