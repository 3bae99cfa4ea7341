"""Loops that are known never to end: nothing in them changes what their condition reads.

A condition is known only if it is made of numbers, variables that the loop leaves alone, and
``x.size``, ``x.shape`` and ``len(x)`` of such variables. Left out: conditions that read memory or
call functions, and loops whose variables change but never reach their end."""

from __future__ import annotations

import ast

from warpwise.simt.frontend.assigned import own_nodes

LEAVES = (ast.Return, ast.Raise, ast.Assert, ast.Yield, ast.YieldFrom, ast.Await)
PLAIN = (
    ast.Compare,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.Constant,
    ast.operator,
    ast.boolop,
    ast.unaryop,
    ast.cmpop,
    ast.expr_context,
)


def never_ends(loop: ast.While) -> bool:
    """Return whether a thread that enters this loop is known to stay in it for ever."""
    extents, numbers = _read(loop.test)
    inside = [node for statement in loop.body for node in own_nodes(statement, into=True)]
    if extents is None or any(isinstance(node, LEAVES) for node in inside) or _breaks(loop):
        return False
    names = [node for node in inside if isinstance(node, ast.Name)]
    if any(node.id in extents | numbers and not isinstance(node.ctx, ast.Load) for node in names):
        return False
    return not any(_handed_on(node, numbers) for node in inside)


def _read(test: ast.expr) -> tuple[set[str] | None, set[str]]:
    """Return the names whose extents a condition reads (None: unknown), and those of numbers."""
    extents, numbers, todo = set[str](), set[str](), [test]
    while todo:
        match node := todo.pop():
            case ast.Attribute(value=ast.Name(id=name), attr="size" | "shape"):
                extents.add(name)
            case ast.Subscript(value=ast.Attribute(attr="shape") as shape, slice=ast.Constant()):
                todo.append(shape)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                extents.add(name)
            case ast.Name(id=name):
                numbers.add(name)
            case _ if isinstance(node, PLAIN):
                todo.extend(child for child in ast.iter_child_nodes(node))  # type: ignore[misc]
            case _:
                return None, numbers
    return extents, numbers


def _breaks(loop: ast.While) -> bool:
    """Return whether a ``break`` of the loop's own leads out of it."""
    todo: list[ast.AST] = list(loop.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Break):
            return True
        inner = isinstance(node, ast.For | ast.While)
        todo.extend(node.orelse if inner else ast.iter_child_nodes(node))  # type: ignore[attr-defined]
    return False


def _handed_on(node: ast.AST, names: set[str]) -> bool:
    """Return whether a piece of syntax may change the object that one of these names stands for."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)):
            return name in names
        case ast.Call(args=args, keywords=keywords):
            given = [*args, *(keyword.value for keyword in keywords)]
            return any(isinstance(one, ast.Name) and one.id in names for one in given)
        case ast.Global() | ast.Nonlocal():
            return True
    return False
