"""Find the line of a kernel on which its float64 begins.

The lines that a counter of float64 blames are those that compute; most of them inherit the type. It
begins where a value is made: a literal such as 0.5 or -math.inf, an argument that is a Python
float, an array of float64, or whole numbers that meet a float32, of which the simulator takes
notes, or a sum that begins as one. Left out: device functions, and what is converted to float32 on
the spot."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from warpwise.simt import Kernel
from warpwise.traces import Note, Trace

CONVERTED = frozenset(
    {"float32", "float16", "int", "int8", "int32", "int64", "uint8", "uint32", "range", "len"}
)
WIDE = frozenset({"float64", "float"})
BEGINS = "float64 begins on line {line}, with {what}: {mend}"
Born = tuple[ast.expr, str]  # where a float64 value is made, and what to write there


def first_float64(kernel: Kernel, args: Mapping[str, Any], t: Trace) -> str:
    """Say on which line float64 begins, and what to write there; "" if that is not found.

    ``args``: the arguments of the launch by the names of parameters."""
    made = min(_made(kernel, args), key=lambda found: found[0], default=None)
    notes = [note for note in t.notes if not note.function and _of_integers(note)]
    if notes and (made is None or notes[0].line < made[0]):
        what = notes[0].what.removesuffix(" is computed in float64")
        return BEGINS.format(line=notes[0].line, what=what, mend=f"write {notes[0].try_this}")
    if made is None:
        return _begun_whole(kernel)
    line, (node, mend) = made
    return BEGINS.format(line=line, what=ast.unparse(node), mend=mend)


def _begun_whole(kernel: Kernel) -> str:
    """Say on which line a sum begins as a whole number, to which others are added; else ""."""
    statements = list(ast.walk(kernel.tree))
    grown = {
        one.target.id
        for one in statements
        if isinstance(one, ast.AugAssign)
        and isinstance(one.target, ast.Name)
        and not isinstance(one.value, ast.Constant)
    }
    for one in statements:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(number))):
                if name in grown:
                    line, what = kernel.where(one).line, ast.unparse(one)
                    mend = f"a whole number meets a float32 there: begin with np.float32({number})"
                    return BEGINS.format(line=line, what=what, mend=mend)
    return ""


def _of_integers(note: Note) -> bool:
    return "int" in note.what


def _made(kernel: Kernel, args: Mapping[str, Any]) -> Iterator[tuple[int, Born]]:
    """Yield the places at which float64 values are made, with their lines."""
    for statement in ast.walk(kernel.tree):
        match statement:
            case ast.Assign(targets=[ast.Subscript()], value=ast.Constant()):
                continue  # it is converted when it is stored
            case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Return(value=value):
                if value is not None:
                    for born in _born(kernel, args, value):
                        yield kernel.where(statement).line, born


def _born(kernel: Kernel, args: Mapping[str, Any], node: ast.expr) -> Iterator[Born]:
    """Yield the parts of an expression that make a float64 value."""
    match node:
        case ast.Compare() | ast.BoolOp():
            return
        case ast.Call(func=function, args=given):
            name = getattr(function, "attr", getattr(function, "id", ""))
            if name in WIDE:
                yield node, "write np.float32 there"
            elif name == "array":
                if any(_is_wide_type(part) for part in (*given, *_values(node))):
                    yield node, "make it of np.float32"
            elif name not in CONVERTED:
                for part in given:
                    yield from _born(kernel, args, part)
        case ast.Constant(value=float()) | ast.Attribute():
            if _is_float(kernel, node):
                yield node, f"write np.float32({ast.unparse(node)})"
        case ast.UnaryOp(operand=operand):
            if _is_float(kernel, operand):
                yield node, f"write np.float32({ast.unparse(node)})"
            else:
                yield from _born(kernel, args, operand)
        case ast.Name(id=name):
            if isinstance(args.get(name), float):  # a Python float, or np.float64
                yield node, f"a Python float is one: write np.float32({name})"
            elif _is_float(kernel, node):
                yield node, f"make it np.float32 where it is defined, or write np.float32({name})"
        case ast.Subscript(value=ast.Name(id=name)):
            if isinstance(array := args.get(name), np.ndarray) and array.dtype == np.float64:
                yield node, f"write np.float32({ast.unparse(node)})"
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from _born(kernel, args, child)


def _is_wide_type(node: ast.expr) -> bool:
    """True for ``np.float64`` and its other names, ``"f8"`` among them."""
    return ast.unparse(node).strip("'").rpartition(".")[2] in {"float64", "double", "float", "f8"}


def _values(call: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in call.keywords]


def _is_float(kernel: Kernel, node: ast.expr) -> bool:
    """True for a float literal, ``math.inf`` and the like, and a global that is a float."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, float)
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return isinstance(getattr(_outside(kernel, module), name, None), float)
        case ast.Name(id=name):
            return isinstance(_outside(kernel, name), float)
    return False


def _outside(kernel: Kernel, name: str) -> object:
    """Return what a name means outside a kernel; None for its own names and unknown ones."""
    if name in kernel.assigned or name in kernel.parameters:
        return None
    try:
        return kernel.lookup(name)
    except KeyError:
        return None
