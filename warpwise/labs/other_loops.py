"""Other loops in the place of one: where each thread begins, by how much it goes on, and distances.

Like the changes of ``other_expressions``, each with a question and a rank. Only loops over elements
of a parameter are given other shares, and only in a text that asks for the number of a thread. Left
out: where a loop ends, which stands there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product

from warpwise.labs.other_expressions import Alternative, Slot
from warpwise.labs.other_indices import Indices

WARP = 32  # lanes
HALVES = (16, 8, 4, 2, 1)
SHARE = (
    "which elements does each thread take in this loop: where does it begin, and by how much does "
    "it go on?"
)
HALVING = "how far apart are the lanes that exchange: does the distance halve from step to step?"
BACKWARDS = "in which order should the loop go?"
FIRST_STEP = "where should the loop begin: is its first step one too many?"
STEPS = "should the loop go on by 1, or by the length of a tile?"


def loop_alternatives(slot: Slot, known: Indices, tree: ast.FunctionDef) -> Iterator[Alternative]:
    """Yield other ranges for the one that a loop runs over."""
    loop = slot.parent
    if (
        not isinstance(loop, ast.For)
        or slot.name != "iter"
        or not isinstance(loop.target, ast.Name)
    ):
        return
    if _exchanges(loop):
        powers = ast.Tuple([ast.Constant(power) for power in HALVES], ast.Load())
        yield powers, HALVING, 0
    match loop.iter:
        case ast.Tuple(elts=[_, _, *_] as parts):
            yield ast.Tuple(parts[::-1], ast.Load()), BACKWARDS, 2
            return
        case ast.Call(func=ast.Name(id="range"), args=args):
            pass
        case _:
            return
    if len(args) == 1:
        yield _range(ast.Constant(1), args[0], None), FIRST_STEP, 1
    if len(args) < 3:
        for length in known.lengths:
            yield _range(*_from(args), ast.Constant(length)), STEPS, 3
    if _takes_elements(loop, tree):
        yield from _shares(args, known, tree, _axis(loop, tree))


def _range(start: ast.expr, stop: ast.expr, step: ast.expr | None) -> ast.Call:
    return ast.Call(ast.Name("range", ast.Load()), [start, stop, *([step] if step else [])], [])


def _from(args: list[ast.expr]) -> tuple[ast.expr, ast.expr]:
    """Return where a range begins and ends."""
    return (ast.Constant(0), args[0]) if len(args) == 1 else (args[0], args[1])


def _exchanges(loop: ast.For) -> bool:
    """True if the lanes of a warp exchange values in a loop, by its variable."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr.startswith("shfl_")
        for node in ast.walk(loop)
    )


def _takes_elements(loop: ast.For, tree: ast.FunctionDef) -> bool:
    return any(True for _ in _elements(loop, tree))


def _elements(loop: ast.For, tree: ast.FunctionDef) -> Iterator[tuple[str, int, int]]:
    """Yield the parameters that a loop's variable alone is an index of: name, axis, axes."""
    parameters = {arg.arg for arg in tree.args.args}
    assert isinstance(loop.target, ast.Name)
    for node in ast.walk(loop):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in parameters:
                axes = index.elts if isinstance(index, ast.Tuple) else [index]
                for axis, one in enumerate(axes):
                    if isinstance(one, ast.Name) and one.id == loop.target.id:
                        yield name, axis, len(axes)


def _axis(loop: ast.For, tree: ast.FunctionDef) -> ast.expr | None:
    """Return the length of the axis that a loop's variable is an index of; None without one."""
    for name, axis, axes in _elements(loop, tree):
        text = f"{name}.size" if axes == 1 else f"{name}.shape[{axis}]"
        return ast.parse(text, mode="eval").body
    return None


def _shares(
    args: list[ast.expr], known: Indices, tree: ast.FunctionDef, length: ast.expr | None
) -> Iterator[Alternative]:
    """Yield ranges in which each thread has its own elements; to the end of an axis if none is."""
    start, stop = _from(args)
    step = args[2] if len(args) == 3 else None
    starts = [start, *_starts(start, known, tree)]
    steps = [step, *(other for other in _steps(tree) if not _same(other, step))]
    for begin, by in product(starts, steps):
        if begin is not start or by is not step:
            yield _range(begin, stop, by), SHARE, 1
    if isinstance(stop, ast.Constant) and length is not None:
        for begin, by in product(starts[1:] or starts, steps):
            yield _range(begin, length, by), SHARE, 2


def _same(one: ast.expr, other: ast.expr | None) -> bool:
    return other is not None and ast.dump(one) == ast.dump(other)


def _starts(start: ast.expr, known: Indices, tree: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield other places to begin at: with a thread's number where there is none, or its own."""
    names = {node.id for node in ast.walk(start) if isinstance(node, ast.Name)}
    text = ast.unparse(start)
    if "shfl_" in ast.unparse(tree) and "lane" not in text and "threadIdx" not in text:
        yield _more(start, ast.parse("cuda.laneid", mode="eval").body)
    elif known.all.isdisjoint(names) and not any(
        word in text for word in ("lane", "grid", "thread")
    ):
        for name in dict.fromkeys(name for group in known.groups for name in group):
            yield _more(start, ast.Name(name, ast.Load()))
    elif "gridsize" in ast.unparse(tree) and "grid(1)" not in text:
        yield ast.parse("cuda.grid(1)", mode="eval").body


def _more(start: ast.expr, number: ast.expr) -> ast.expr:
    zero = isinstance(start, ast.Constant) and start.value == 0
    return number if zero else ast.BinOp(start, ast.Add(), number)


def _steps(tree: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what a thread may go on by: a warp, or as many as a block or the grid has threads."""
    yield ast.Constant(WARP)
    text = ast.unparse(tree)
    size = "cuda.gridsize(1)" if "grid(1)" in text or "gridsize" in text else "cuda.blockDim.x"
    yield ast.parse(size, mode="eval").body
