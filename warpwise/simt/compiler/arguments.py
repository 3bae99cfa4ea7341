"""The arguments of a call: compiled, counted, and refused where they are not what is needed."""

from __future__ import annotations

import ast
import cmath
from collections.abc import Sequence

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, Number, items_of
from warpwise.simt.compiler.context import Context
from warpwise.simt.types import TupleType, is_complex, is_integer

MAX_ARGUMENTS = 255
NO_COMPLEX = "take its .real, its .imag or its abs()"


def positional(c: Context, node: ast.Call) -> list[Code]:
    """Compile the positional arguments; ``*values`` of a tuple counts as its items."""
    codes = []
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            codes.append(c.expression(argument))
            continue
        values = c.expression(argument.value)
        if not isinstance(values.type, TupleType):
            what = f"{ast.unparse(argument)}: {types.described(values.type)}"
            try_this = "only tuples can be: write the arguments out"
            c.refuse(node, f"{what} cannot be taken apart in a call", try_this)
        codes += items_of(values.run, values.type)
        if len(codes) > MAX_ARGUMENTS:
            c.refuse(node, f"a call with more than {MAX_ARGUMENTS} arguments", "pass an array")
    return codes


def whole_number(c: Context, node: ast.expr, what: str) -> Number:
    """Compile an argument that is an integer; anything else is refused. ``what``: "a count"."""
    return as_whole(c, node, what, c.scalar(node))


def as_whole(c: Context, node: ast.expr, what: str, code: Number) -> Number:
    """Return a compiled argument if it is an integer, or refuse it."""
    if not is_integer(code.type):
        text = ast.unparse(node)
        what = f"{what} is an integer, and {text} is {code.type}"
        c.refuse(node, what, f"int({text})", KernelTypeError)
    return code


def spread(c: Context, node: ast.Call) -> ast.Call:
    """Write out ``*values`` of a tuple or the name of one, for a word that reads syntax."""
    if not is_starred(node):
        return node
    args: list[ast.expr] = []
    for argument in node.args:
        inner = argument.value if isinstance(argument, ast.Starred) else argument
        t = c.variables.env.get(inner.id) if isinstance(inner, ast.Name) else None
        if inner is argument:
            args.append(argument)
        elif isinstance(inner, ast.Tuple):
            args += inner.elts
        elif isinstance(t, TupleType):
            items = (ast.Constant(i) for i in range(len(t.items)))
            parts = (ast.Subscript(inner, ast.copy_location(i, inner), ast.Load()) for i in items)
            args += (ast.copy_location(part, inner) for part in parts)
        else:
            args.append(argument)
    return ast.copy_location(ast.Call(node.func, args, node.keywords), node)


def is_starred(node: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in node.args)


def numbers(c: Context, node: ast.Call) -> list[Number]:
    """Compile arguments all of which are numbers."""
    if not is_starred(node):
        return [c.scalar(argument) for argument in node.args]
    codes = positional(c, node)
    found = only_numbers(codes)
    if found is None:
        bad = next(code for code in codes if not types.is_scalar(code.type))
        what = f"{ast.unparse(node)}: {types.described(bad.type)} where a number is needed"
        c.refuse(node, what, "pass numbers")
    return found


def only_numbers(codes: Sequence[Code]) -> list[Number] | None:
    """Return codes as numbers; None if one is anything else."""
    found = [
        Number(code.run, t, code.constant) for code in codes if types.is_scalar(t := code.type)
    ]
    return found if len(found) == len(codes) else None


def arguments(c: Context, node: ast.Call, count: int) -> list[Number]:
    """Compile as many numbers as a function takes."""
    found = numbers(c, node)
    if len(found) != count:
        name = ast.unparse(node.func)
        what = f"{name} takes {count} argument{'s' * (count != 1)} here, not {len(found)}"
        c.refuse(node, what, f"{name}({', '.join('abcd'[:count])})")
    return found


def exactly(c: Context, node: ast.Call, *names: str) -> list[ast.expr]:
    """Return the positional arguments of a call; anything but these parameters is refused."""
    if len(node.args) != len(names) or node.keywords or is_starred(node):
        form = f"{ast.unparse(node.func)}({', '.join(names)})"
        count = f"{len(names) or 'no'} argument{'s' * (len(names) != 1)}"
        c.refuse(node, f"{ast.unparse(node)}: {form} takes {count} and no keywords", form)
    return node.args


def need_real(node: ast.Call, found: Sequence[Number]) -> None:
    """Refuse complex arguments of a function of real numbers."""
    if any(is_complex(argument.type) for argument in found):
        name = ast.unparse(node.func)
        function = name.rpartition(".")[2]
        try_this = f"cmath.{function}(z)" if hasattr(cmath, function) else NO_COMPLEX
        raise types.TypeMismatch(f"{name} does not take complex numbers", try_this)
