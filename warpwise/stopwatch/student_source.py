"""What a hint takes from the student's own kernel: its numbers, its loops and its block.

Reads the syntax tree alone: an index that was given a name before is not followed."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from warpwise.metrics import WARP_SIZE
from warpwise.traces import Trace

NEIGHBOURS = (
    "let neighbouring lanes use neighbouring elements: threadIdx.x counts along an array's last "
    "index"
)
SHARED_ROW = (
    "keep at least as many threads, but let those of a block share a row, with threadIdx.x along it"
)
COMBINED = f"{SHARED_ROW}, and combine their results in shared memory"
NARROWEST_TILE = 8  #: columns, below which a block's width says nothing of a tile's
_TYPES = ("float", "int", "uint")


def in_float32(trace: Trace, lines: Collection[int]) -> str:
    """Return how one of a kernel's float64 numbers is written in float32, on these lines if one is
    there."""
    found = sorted(
        _doubles(trace), key=lambda one: (one.lineno not in lines, one.lineno, one.col_offset)
    )
    number = ast.unparse(found[0]) if found else "0.5"
    where = f" on {trace.place(found[0].lineno)}" if found and found[0].lineno not in lines else ""
    return f"write np.float32({number}) for {number}{where}"


def _doubles(trace: Trace) -> list[ast.Constant]:
    nodes = _nodes(trace)
    cast = {id(a) for n in nodes if isinstance(n, ast.Call) and _is_type(n.func) for a in n.args}
    return [
        node
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and id(node) not in cast
    ]


def _is_type(function: ast.expr) -> bool:
    return ast.unparse(function).rpartition(".")[2].startswith(_TYPES)


def side_by_side(trace: Trace, lines: Collection[int]) -> str:
    """Return how lanes come to lie side by side on these lines: where each thread goes along a row
    of its own, a block's threads share one."""
    loops = _rows(trace, lines) if trace.block[1:] == (1, 1) else []
    if not loops:
        return NEIGHBOURS
    return COMBINED if any(_keeps_a_result(loop, lines) for loop in loops) else SHARED_ROW


def _rows(trace: Trace, lines: Collection[int]) -> list[ast.For | ast.While]:
    """Return the loops that go along an array's last index, one by one, on these lines."""
    return [
        loop
        for loop in _nodes(trace)
        if isinstance(loop, ast.For | ast.While)
        and any(
            name in _terms(node.slice)
            for name in _counters(loop)
            for node in ast.walk(loop)
            if isinstance(node, ast.Subscript) and node.lineno in lines
        )
    ]


def _counters(loop: ast.For | ast.While) -> Iterator[str]:
    """Yield the names that a loop raises by 1."""
    if isinstance(loop, ast.While):
        for node in ast.walk(loop):
            if isinstance(node, ast.AugAssign) and ast.unparse(node.value) == "1":
                yield ast.unparse(node.target)
    elif isinstance(loop.iter, ast.Call) and len(loop.iter.args) < 3:
        yield ast.unparse(loop.target)


def _terms(index: ast.expr) -> set[str]:
    """Return the names that are added up in an index, the last one of several."""
    if isinstance(index, ast.Tuple):
        return _terms(index.elts[-1])
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add):
        return _terms(index.left) | _terms(index.right)
    return {index.id} if isinstance(index, ast.Name) else set()


def _keeps_a_result(loop: ast.For | ast.While, lines: Collection[int]) -> bool:
    """Return whether a loop computes a value from these lines that outlives a pass."""
    return any(
        isinstance(target, ast.Name)
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno in lines
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )


def counts_with_range(trace: Trace, lines: Collection[int]) -> bool:
    """Return whether one of these lines is in a ``for`` loop."""
    loops = [node for node in _nodes(trace) if isinstance(node, ast.For)]
    return any(
        loop.lineno <= line <= (loop.end_lineno or loop.lineno) for loop in loops for line in lines
    )


def tile_width(trace: Trace) -> int:
    """Return the columns of a tile as wide as a block of two dimensions, or as a warp."""
    x, y, _ = trace.block
    return x if y > 1 and NARROWEST_TILE <= x <= WARP_SIZE else WARP_SIZE


def _nodes(trace: Trace) -> list[ast.AST]:
    return list(ast.walk(trace.launched[0].tree)) if trace.launched else []
