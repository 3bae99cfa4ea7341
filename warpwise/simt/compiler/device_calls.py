"""Device functions: calls, arguments bound as in Python, functions as values and within kernels.

A device function is known before the launch wherever it is named: its type identifies it, and
nothing is passed. Functions within a kernel, lambdas too, see the kernel's variables as they are
when they are called."""

from __future__ import annotations

import ast
from typing import NoReturn

from warpwise.errors import (
    KernelTypeError,
    UndefinedNameError,
    UnsupportedError,
)
from warpwise.simt import types
from warpwise.simt.compiler import optional_values
from warpwise.simt.compiler.arguments import is_starred, positional
from warpwise.simt.compiler.closures import (
    Code,
    Run,
    Step,
    cast_code,
    constant_code,
    converted,
    joined,
)
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.known_names import ConstantNeeded
from warpwise.simt.compiler.program import Program
from warpwise.simt.compiler.tuples import bounded_tuple
from warpwise.simt.frontend.assigned import own_nodes
from warpwise.simt.frontend.defaults import default_nodes, default_value
from warpwise.simt.frontend.kernel import DeviceFunctionType, Kernel, Node, beside, numbering_of
from warpwise.simt.frontend.lambdas import as_function
from warpwise.simt.frontend.names import has_own
from warpwise.simt.frontend.resolution import best
from warpwise.simt.frontend.signatures import Kind, Parameter
from warpwise.simt.frontend.source import as_kernel
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import DType, OptionalType, Type, Value

MAX_SPECIALISED = 64  # copies of one function
MOST_TYPES_OF_ITSELF = 8  # argument types with which a function may call itself


def device_function(c: Context, function: object) -> Kernel | None:
    if isinstance(function, Kernel) or has_own(function, "py_func"):
        return beside(c.kernel, as_kernel(function))
    return None


def function_value(kernel: Kernel) -> Code:
    """Compile a device function as a value."""
    return Code(lambda frame, mask: (), DeviceFunctionType(kernel))


def call_device(c: Context, node: ast.Call, kernel: Kernel) -> Code:
    if kernel in c.callers and kernel.captured:
        what = f"{kernel.name} calls itself, and is defined in a kernel"
        c.refuse(node, what, "define it outside, as a device function, or write a loop")
    if kernel is not c.kernel:
        c.kernel.calls.setdefault(kernel, set()).add(node.lineno)
    bound = [_taken_along(c, node, code) for code in _bound_arguments(c, node, kernel)]
    given, result = _as_signed(c, node, kernel, bound)
    arguments = [*given, *_captured(c, node, kernel)]
    argument_types = tuple(a.type for a in arguments)
    begun = kernel.begun.get(argument_types)
    if begun is not None and result is not None and not begun.found:
        begun.add(result, node)  # the signature says what it returns
    _need_an_end(c, node, kernel, argument_types)
    program = _program(c, node, kernel, argument_types)
    runs, site, t = [a.run for a in arguments], c.site(node), program.result

    def run(frame: Frame, mask: Mask) -> Value:
        frame.batch.step(site, mask)
        inner = program.frame(frame.batch, tuple(run(frame, mask) for run in runs), mask)
        program.run(inner, mask)
        return (
            optional_values.returned(inner, mask, t)
            if isinstance(t, OptionalType)
            else inner.result
        )

    made = cast_code(run, program.result)
    return made if result is None else converted(c.number(node, made), result)


def _program(c: Context, node: ast.Call, kernel: Kernel, types_of: tuple[Type, ...]) -> Program:
    """Compile a function for these types, and for the constants that it needs to know."""
    while True:
        try:
            return c.callee(kernel, types_of)
        except ConstantNeeded as needed:
            value = _constant_argument(c, node, kernel, needed)
            if len(kernel.general.specialised) >= MAX_SPECIALISED:
                raise needed.refusal from None
            kernel = kernel.with_constant(needed.parameter, value)


def _constant_argument(
    c: Context, node: ast.Call, kernel: Kernel, needed: ConstantNeeded
) -> object:
    """Return the value of an argument that must be a constant. Raises ConstantNeeded in turn."""
    a, name = kernel.tree.args, needed.parameter
    given = dict(zip([p.arg for p in (*a.posonlyargs, *a.args)], node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords if k.arg}
    try:
        if name in given and not is_starred(node):
            return c.constant(given[name])
        value = default_value(kernel, name)
    except (KeyError, UnsupportedError):
        raise needed.refusal from None
    if value is NotImplemented:
        raise needed.refusal
    return value


def _need_an_end(c: Context, node: ast.Call, kernel: Kernel, types_: tuple[Type, ...]) -> None:
    """Refuse a function that calls itself before a path has said what it returns."""
    begun = kernel.begun.get(types_)
    if begun is None and c.callers.count(kernel) > MOST_TYPES_OF_ITSELF:
        what = f"{kernel.name} calls itself with arguments of ever new types"
        c.refuse(node, what, "pass values of the same types")
    if begun is not None and kernel is not c.kernel:
        what = f"{kernel.name} and {c.kernel.name} call each other"
        c.refuse(node, what, "write one function, or a loop")
    if begun is not None and not begun.found:
        what = f"{kernel.name} calls itself before it is known what it returns"
        c.refuse(node, what, "first return a value on a path without a call, or write a loop")


# --- arguments ---


def _as_signed(
    c: Context, node: ast.Call, kernel: Kernel, arguments: list[Code]
) -> tuple[list[Code], DType | None]:
    """Convert a call's arguments to the function's signature; return the type of its result.

    None where the function's text decides. Of several signatures the best is taken, as Numba takes
    it, the first of equals."""
    if not kernel.signed:
        return arguments, None
    fitting = best(kernel.signed, tuple(code.type for code in arguments))
    if not fitting:
        passed = ", ".join(str(code.type) for code in arguments)
        compiled = " or ".join(map(str, kernel.signed))
        what = f"{kernel.name} is compiled for {compiled}, and the call passes ({passed})"
        c.refuse(node, what, "mend the signature, or leave it out", KernelTypeError)
    kinds, result = fitting[0].arguments, fitting[0].result
    codes = [_as_kind(code, kind) for code, kind in zip(arguments, kinds, strict=True)]
    return codes, result.dtype if isinstance(result, Parameter) and not result.ndim else None


def _as_kind(code: Code, kind: Kind) -> Code:
    if isinstance(kind, Parameter) and types.is_scalar(code.type):
        return converted(code, kind.dtype)
    return code


def _bound_arguments(c: Context, node: ast.Call, kernel: Kernel) -> list[Code]:
    """Compile an argument for each parameter, in their order, as Python binds them."""
    a, given = kernel.tree.args, positional(c, node)
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    only_named = [p.arg for p in a.kwonlyargs]
    wrong_count = f"is called with {len(given)} argument{'s' * (len(given) != 1)}"
    if len(given) > len(names) and a.vararg is None:
        _refuse_arguments(c, node, kernel, wrong_count)
    found = dict(zip(names, given, strict=False))
    free = names[len(a.posonlyargs) :] + only_named
    for keyword in node.keywords:
        if keyword.arg is None:
            what = f"{ast.unparse(node)}: ** cannot be used in a call"
            c.refuse(node, what, "write the arguments out")
        if keyword.arg in found or keyword.arg not in free:
            _refuse_arguments(c, node, kernel, f"has no free parameter {keyword.arg}")
        found[keyword.arg] = c.expression(keyword.value)
    defaults = default_nodes(a)
    for name in names + only_named:
        if name not in found:
            if name not in defaults:
                _refuse_arguments(c, node, kernel, wrong_count)
            found[name] = _default(kernel, name, defaults[name])
    codes = [found[name] for name in names]
    if a.vararg is not None:
        rest = given[len(names) :]
        codes.append(joined(rest, bounded_tuple(c, node, [code.type for code in rest])))
    return codes + [found[name] for name in only_named]


def _refuse_arguments(c: Context, node: ast.Call, kernel: Kernel, what: str) -> NoReturn:
    signature = f"{kernel.name}({ast.unparse(kernel.tree.args)})"
    c.refuse(node, f"{signature} {what}", f"call it as {signature}")


def _default(kernel: Kernel, name: str, node: ast.expr) -> Code:
    """Compile a default value, which is known before the launch."""
    value = default_value(kernel, name)
    if types.of_constant(value) is None:
        what = f"{kernel.name}: the default value {ast.unparse(node)} is no constant"
        try_this = "a number, a tuple of numbers, or None"
        raise UnsupportedError(what, kernel.where(kernel.tree), try_this)
    return constant_code(value)


# --- functions within functions ---


def function_definition(c: Context, node: ast.FunctionDef) -> Step:
    if node.decorator_list:
        try_this = "define device functions outside the kernel, or leave the decorator out"
        c.refuse(node, f"{node.name} cannot be decorated within a kernel", try_this)
    inner = _inner(c, node, node)
    slot = c.bind(node.name, DeviceFunctionType(inner))

    def do(frame: Frame, mask: Mask) -> Mask:
        frame.assign(slot, (), mask)
        return mask

    return do


def lambda_(c: Context, node: ast.Lambda) -> Code:
    return function_value(_inner(c, node, as_function(node, c.target or "lambda")))


def _inner(c: Context, node: Node, tree: ast.FunctionDef) -> Kernel:
    """Return the device function that an inner ``def`` or lambda makes, always the same one."""
    kernel = c.kernel
    if node not in kernel.inner:
        names = {n.id for n in own_nodes(tree, into=True) if isinstance(n, ast.Name)}
        inner = Kernel(tree, kernel.lookup, kernel.file, kernel.lines, True, kernel.names)
        inner.origin, inner.base, inner.options = kernel.origin, kernel.base, kernel.options
        inner.numbering = numbering_of(kernel)
        inner.captured = tuple(sorted(names & c.variables.assigned - inner.assigned))
        kernel.inner[node] = inner
    return kernel.inner[node]


def _captured(c: Context, node: ast.Call, kernel: Kernel) -> list[Code]:
    """Compile the variables that an inner function reads: of this function, or taken along."""
    if kernel.captured and kernel not in c.kernel.inner.values():
        called = c.static(node.func)
        if isinstance(called, DeviceFunctionType) and called.captured:
            run = c.expression(node.func).run
            return [_item(run, number, t) for number, t in enumerate(called.captured)]
        captured = ", ".join(kernel.captured)
        what = f"{kernel.name} reads {captured} of the function that it was defined in"
        try_this = f"pass {kernel.captured[0]} to it as an argument"
        c.refuse(node, f"{what}, and is called in another", try_this)
    return [_captured_variable(c, node, name) for name in kernel.captured]


def _item(run: Run, number: int, t: Type) -> Code:
    return cast_code(lambda frame, mask: run(frame, mask)[number], t)


def _taken_along(c: Context, node: ast.Call, code: Code) -> Code:
    """Compile an argument; an inner function takes along the variables that it reads, as they are.

    Numba passes on only those functions whose variables are constants."""
    t = code.type
    if not isinstance(t, DeviceFunctionType) or t.captured or not t.kernel.captured:
        return code
    if t.kernel not in c.kernel.inner.values():
        return code
    parts = [_captured_variable(c, node, name) for name in t.kernel.captured]
    runs, types_of = [part.run for part in parts], tuple(part.type for part in parts)
    return Code(
        lambda frame, mask: tuple(run(frame, mask) for run in runs),
        DeviceFunctionType(t.kernel, types_of),
    )


def _captured_variable(c: Context, node: ast.Call, name: str) -> Code:
    if name not in c.variables.env:
        what = f"{name} may be used before it has a value"
        c.refuse(node, what, f"give {name} a value before this line", UndefinedNameError)
    slot, site = c.variables.slot(name), c.site(node)
    t = c.variables.env[name]
    kept = c.variables.optional(name, t)
    return optional_values.read(lambda f, m: f.value(slot, name, m, site), t, kept)
