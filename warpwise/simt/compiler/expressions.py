"""Expressions with operators, which mean one thing for numbers and another for tuples."""

from __future__ import annotations

import ast

from warpwise.simt.compiler import enumerations
from warpwise.simt.compiler.arithmetic import binary, comparison
from warpwise.simt.compiler.closures import Code, Number, Run, items_of
from warpwise.simt.compiler.conditions import identity
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.tuples import contained, tuple_comparison, tuple_sum
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import BOOL, TupleType, Value


def operation(c: Context, node: ast.BinOp) -> Code:
    left, right = c.expression(node.left), c.expression(node.right)
    a, b = left.type, right.type
    if isinstance(a, TupleType) and isinstance(b, TupleType) and isinstance(node.op, ast.Add):
        return tuple_sum(c, node, left, right, (*a.items, *b.items))
    return binary(c, node, c.number(node.left, left), node.op, c.number(node.right, right))


def compare(c: Context, node: ast.Compare) -> Number:
    if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
        return identity(c, node)
    nodes = [node.left, *node.comparators]
    operands = [c.expression(n) for n in nodes]
    parts = [
        _compared(c, nodes[i : i + 2], operands[i : i + 2], op) for i, op in enumerate(node.ops)
    ]
    return parts[0] if len(parts) == 1 else _all_of([part.run for part in parts])


def _compared(c: Context, nodes: list[ast.expr], codes: list[Code], op: ast.cmpop) -> Number:
    left, right = codes
    if isinstance(op, (ast.In, ast.NotIn)):
        value = c.number(nodes[0], left)
        return contained(c, value, right, negate=isinstance(op, ast.NotIn))
    a, b = left.type, right.type
    if (of_members := enumerations.compared(left, right, op)) is not None:
        return of_members
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        return tuple_comparison(c, items_of(left.run, a), items_of(right.run, b), op)
    return comparison(c, c.number(nodes[0], left), c.number(nodes[1], right), op)


def _all_of(runs: list[Run]) -> Number:
    def run(frame: Frame, mask: Mask) -> Value:
        result = runs[0](frame, mask)
        for part in runs[1:]:
            result = result & part(frame, mask)
        return result

    return Number(run, BOOL)


def stray_slice(c: Context, node: ast.Slice) -> Code:
    c.refuse(node, "a slice stands between brackets", "a[1:4]")
