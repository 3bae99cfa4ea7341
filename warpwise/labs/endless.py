"""Tell of a host function that it never ends, where its text shows it.

A kernel's loops are told by ``simt.frontend.endless``. In Python a list can shrink while a loop
runs, so here a loop is known only if it leaves alone whatever its condition reads the length of."""

from __future__ import annotations

import ast

from warpwise.simt.frontend.endless import never_ends

HARMLESS = {"len", "range", "min", "max", "sum", "abs", "float", "int", "print", "enumerate", "zip"}
MODULES = {"np", "numpy", "math"}  #: whose functions change the length of no array


def stays(loop: ast.While) -> bool:
    """Return whether Python that enters this loop is known to stay in it for ever."""
    names = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)} - HARMLESS
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    return never_ends(loop) and not any(_resizes(node, names) for node in inside)


def does_not_end(text: str, name: str) -> bool:
    """Return whether each call of a function of a text ends in a loop that never does.

    That is so if the loop is one of the function's own statements. Before it a call may return, but
    not out of a loop, in which the time may have passed."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    for statement in next((f.body for f in reversed(functions) if f.name == name), []):
        if isinstance(statement, ast.While) and stays(statement):
            return True
        if isinstance(statement, ast.FunctionDef):
            continue  # what it returns is its own
        within = list(ast.walk(statement))
        loops = any(isinstance(node, ast.For | ast.While) for node in within)
        leaves = any(isinstance(node, ast.Return | ast.Raise) for node in within)
        if leaves and (loops or isinstance(statement, ast.Return | ast.Raise)):
            return False
    return False


def _resizes(node: ast.AST, names: set[str]) -> bool:
    """Return whether a piece of syntax may change the length of what has one of these names."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return name in names and attribute not in ("size", "shape", "dtype", "ndim", "T")
        case ast.Subscript(value=ast.Name(id=name), slice=part, ctx=context):
            changes = isinstance(context, ast.Del) or (
                isinstance(context, ast.Store) and isinstance(part, ast.Slice)
            )
            return name in names and changes
        case ast.Call(func=function, args=args, keywords=keywords) if not _harmless(function):
            given = [*args, *(keyword.value for keyword in keywords)]
            return any(isinstance(one, ast.Name) and one.id in names for one in given)
    return False


def _harmless(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name):
            return name in HARMLESS
        case ast.Attribute(value=ast.Name(id=name)):
            return name in MODULES
    return False
