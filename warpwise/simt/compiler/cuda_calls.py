"""A thread's place in the grid, and the barrier of a block."""

from __future__ import annotations

import ast
from collections.abc import Callable

from warpwise.metrics import WARP_SIZE
from warpwise.simt.compiler.closures import Code, Number, constant_code
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.types import INT64, NONE, TupleType, Value


def grid(c: Context, node: ast.Call) -> Code:
    return _per_axis(c, _axes(c, node), lambda group, axis: group.grid_index(axis))


def gridsize(c: Context, node: ast.Call) -> Code:
    axes = _axes(c, node)
    return _per_axis(c, axes, lambda group, axis: group.grid[axis] * group.block[axis])


def _axes(c: Context, node: ast.Call) -> int:
    axes = c.constant(node.args[0]) if len(node.args) == 1 else None
    if not isinstance(axes, int) or axes not in (1, 2, 3):
        name = ast.unparse(node.func)
        what = f"{ast.unparse(node)}: the number of dimensions is 1, 2 or 3"
        c.refuse(node, what, f"i = {name}(1), or x, y = {name}(2)")
    return axes


def _per_axis(c: Context, axes: int, value: Callable[[LaneGroup, int], Value]) -> Code:
    """Compile ``value(group, axis)``: one number for one axis, a tuple for two or three."""
    c.cost.add("integer", axes)
    if axes == 1:
        return Number(lambda f, m: value(m.group, 0), INT64)
    return Code(
        lambda f, m: tuple(value(m.group, i) for i in range(axes)), TupleType((INT64,) * axes)
    )


def syncthreads(c: Context, node: ast.Call) -> Code:
    if node.args or node.keywords:
        c.refuse(node, "syncthreads takes no arguments", f"{ast.unparse(node.func)}()")
    site = c.site(node)
    c.cost.add("control")
    c.counts.barriers += 1
    return Code(lambda f, m: f.batch.barriers.block(m, site), NONE)


# --- values, which cost nothing ---


def thread_index(axis: int) -> Number:
    return Number(lambda f, m: m.group.thread_index[axis], INT64)


def block_index(axis: int) -> Number:
    return Number(lambda f, m: m.group.block_index[axis], INT64)


def block_size(axis: int) -> Number:
    return Number(lambda f, m: m.group.block[axis], INT64)


def grid_size(axis: int) -> Number:
    return Number(lambda f, m: m.group.grid[axis], INT64)


def warp_size() -> Code:
    return constant_code(WARP_SIZE)


def lane_index() -> Number:
    return Number(lambda f, m: m.group.lane, INT64)
