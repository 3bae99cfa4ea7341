"""The likely cause of an index outside its array, such as two indices in the wrong order.

Looked for only once there is such an index. A cause is found in the values of all lanes, and so it
is private; whoever may not see the data is advised on a guard alone."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from warpwise.errors import OutOfBoundsError
from warpwise.messages import Chosen, message
from warpwise.metrics import WARP_SIZE
from warpwise.simt.frontend.called import called_by
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.loop_causes import of_loops
from warpwise.simt.machine.memory import Array
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Value

ROUNDED_UP = (
    ". The launch is rounded up to whole blocks, so that threads of the last ones have no element. "
    "If that is not it: {cause}"
)


def explained(
    error: OutOfBoundsError,
    array: Array,
    indices: list[Value],
    mask: Mask,
    site: Site,
    kernel: Kernel,
) -> OutOfBoundsError:
    """Return the error of a request with the likely cause before its advice, if one is found."""
    texts, blocks, one_more, words = _texts(site.text, array.name, len(indices)), "", "", ""
    cause = (
        (guarded := _other_guard(array, indices, texts, site, kernel, mask))
        or (blocks := _blocks(array, indices, mask, kernel))
        or (words := _counts_numbers(array, indices, texts, mask, kernel))
        or _in_a_loop(array, indices, texts, mask, site, kernel)
        or _swapped(array, indices, texts, mask)
        or _long_loop(array, indices, texts, site, kernel)
        or (one_more := _one_too_large(array, indices, mask))
        or _small(array, indices, mask)
    )
    if not cause:
        return error
    sure = guarded or blocks or one_more or words or array.space == "shared"
    guard_first = not sure and _rounded_up(array, indices, mask)
    try_this = message(
        "[[{before}]]{guard}[[{after}]]",
        before=Chosen("" if guard_first else f"{cause}{_if_not(cause)}"),
        guard=error.remedy,
        after=Chosen(ROUNDED_UP.format(cause=cause) if guard_first else ""),
    )
    return OutOfBoundsError(error.message, error.where, try_this)


def _if_not(cause: str) -> str:
    return " If that is not it: " if cause.endswith("?") else "; if that is not it, "


def _texts(text: str, array: str, count: int) -> tuple[str, ...]:
    """Return the indices of an array as its line writes them; none if there are several ways."""
    try:
        tree = ast.parse(text.strip() + (" pass" if text.rstrip().endswith(":") else ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = {
        tuple(
            map(ast.unparse, node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == array
    }
    fitting = [parts for parts in found if len(parts) == count]
    return fitting[0] if len(fitting) == 1 else ()


def _other_guard(
    array: Array,
    indices: list[Value],
    texts: tuple[str, ...],
    site: Site,
    kernel: Kernel,
    mask: Mask,
) -> str:
    """Return that the guard around a line compares an index with something else than the length of
    its axis, or lets it be as large, or asks for one of its conditions alone."""
    for axis, (text, index) in enumerate(zip(texts, indices, strict=False)):
        size = array.shape[axis]
        if isinstance(size, np.ndarray) or _inside(index, size, mask):
            continue
        own = {f"{array.name}.shape[{axis}]", f"len({array.name})" if axis == 0 else ""}
        own |= {f"{array.name}.size"} if array.ndim == 1 else set()
        for test, line in _guards_around(kernel, site):
            if said := _of_guard(test, text, own, line):
                return said
    return ""


def _of_guard(test: ast.expr, index: str, own: set[str], line: int) -> str:
    """Ask about the first comparison of an index in a guard, if it is no right one."""
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() as op], comparators=[end]):
                if ast.unparse(left) != index:
                    continue
            case _:
                continue
        length = ast.unparse(end)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            return f"the guard on line {line} joins its conditions with or: should it be and?"
        if isinstance(op, ast.LtE):
            return f"the guard on line {line} lets {index} be as large as {length}: < or <=?"
        if length not in own:
            return (
                f"the guard on line {line} compares {index} with {length}: is that the length of "
                "the axis on which it is an index here?"
            )
    return ""


def _guards_around(kernel: Kernel, site: Site) -> Iterator[tuple[ast.expr, int]]:
    """Yield the conditions under which a line stands, with their own lines."""
    for function in (kernel, *called_by(kernel)):
        for node in ast.walk(function.tree):
            if not isinstance(node, ast.If) or not node.body:
                continue
            last = node.body[-1].end_lineno or node.body[-1].lineno
            if node.body[0].lineno <= site.line <= last:
                yield node.test, node.lineno - function.base


def _blocks(array: Array, indices: list[Value], mask: Mask, kernel: Kernel) -> str:
    """Return that two numbers of a block seem to be exchanged: an axis is as long as the grid the
    other way, and its index stays below the length of the grid this way."""
    text = ast.unparse(kernel.tree)
    if "blockIdx.x" not in text or "blockIdx.y" not in text:
        return ""
    ways = (("x", *mask.group.grid[:2]), ("y", *reversed(mask.group.grid[:2])))
    for axis, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
        if isinstance(size, np.ndarray) or _inside(index, size, mask):
            continue
        for way, blocks, others in ways:
            if size == others and _inside(index, blocks, mask):
                other = "y" if way == "x" else "x"
                return (
                    f"are blockIdx.x and blockIdx.y exchanged? Axis {axis} of {array.name} has "
                    f"{size}, as many as the grid has blocks along {other}"
                )
            if _is_part_of_the_other(index, size, way, blocks, others, mask):
                other = "y" if way == "x" else "x"
                return (
                    f"are blockIdx.x and blockIdx.y exchanged? Axis {axis} of {array.name} has "
                    f"{size}, {size // others} for each block along {other}, and its index goes by "
                    f"blockIdx.{way}"
                )
    return ""


def _is_part_of_the_other(
    index: Value, size: int, way: str, blocks: int, others: int, mask: Mask
) -> bool:
    """True if each block takes its part of an axis by the number that it has the wrong way: there
    are as many parts as blocks the other way, and fewer than this way."""
    part = size // others
    if blocks <= others or size % others or part < 2:
        return False
    number = mask.group.block_index["xy".index(way)]
    return bool(((index // part == number) | ~mask.grid()).all())


def _in_a_loop(
    array: Array,
    indices: list[Value],
    texts: tuple[str, ...],
    mask: Mask,
    site: Site,
    kernel: Kernel,
) -> str:
    """Return what the text of an index that is outside says of the loop around it."""
    for text, index, size in zip(texts, indices, array.shape, strict=False):
        outside = isinstance(size, np.ndarray) or not _inside(index, size, mask)
        if outside and (said := of_loops(text, site, kernel)):
            return said
    return ""


def _counts_numbers(
    array: Array, indices: list[Value], texts: tuple[str, ...], mask: Mask, kernel: Kernel
) -> str:
    """Return that an index counts numbers, where each element is a word of two for tensor cores.

    Not if two indices may be swapped, by which some lanes stay inside."""
    if array.space != "global" or array.dtype != np.uint32 or not _multiplies_words(kernel):
        return ""
    index, size = indices[-1], array.shape[-1]
    outside = zip(indices[:-1], array.shape, strict=False)
    if not all(_inside(at, length, mask) for at, length in outside):
        return ""
    if isinstance(size, np.ndarray) or not _inside(index, 2 * size, mask):
        return ""
    some_inside = bool((np.less(index, size) & mask.grid()).any())
    if some_inside and _swapped(array, indices, texts, mask):
        return ""
    asked = f"does {texts[-1]} count" if texts else "does this index count"
    of = f"axis {array.ndim - 1} of {array.name}" if array.ndim > 1 else array.name
    return (
        f"{asked} numbers? An index counts words, of two neighbours each, and {of} has {size} "
        f"words for {2 * size} numbers"
    )


def _multiplies_words(kernel: Kernel) -> bool:
    return any(
        ast.unparse(node.func).rpartition(".")[2] == "mma_bf16"
        for function in (kernel, *called_by(kernel))
        for node in ast.walk(function.tree)
        if isinstance(node, ast.Call)
    )


def _small(array: Array, indices: list[Value], mask: Mask) -> str:
    """Ask whether an array in shared memory is large enough."""
    if array.space != "shared":
        return ""
    for axis, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
        if not isinstance(size, np.ndarray) and not _inside(index, size, mask):
            last = int(np.where(mask.grid(), index, 0).max())
            if last >= size:
                has = f"axis {axis} has {size} elements" if len(indices) > 1 else f"it has {size}"
                asked = f"is the index too large, or {array.name} too small?"
                return f"{asked} Here {has}, and the index goes up to {last}"
    return ""


def _one_too_large(array: Array, indices: list[Value], mask: Mask) -> str:
    """Return that an index goes from 1 to the length of its axis, not from 0 to the last."""
    for index, size in zip(indices, array.shape, strict=True):
        if not isinstance(index, np.ndarray) or isinstance(size, np.ndarray):
            continue
        used = np.broadcast_to(index, mask.group.shape)[mask.grid()]
        if int(used.min()) == 1 and int(used.max()) == size > 1:
            asked = "is it one too large, or let one too far by <=?"
            return f"the index goes from 1 to {size} here, not from 0 on: {asked}"
    return ""


def _swapped(array: Array, indices: list[Value], texts: tuple[str, ...], mask: Mask) -> str:
    """Return that two indices seem to be swapped, if every lane would be inside the array then."""
    for one, other in combinations(range(len(indices)), 2):
        order = list(range(len(indices)))
        order[one], order[other] = other, one
        if not all(_inside(indices[at], array.shape[axis], mask) for axis, at in enumerate(order)):
            continue
        exchanged = f"{array.name} with axes {one} and {other} exchanged"
        if texts:
            exchanged = f"{array.name}[{', '.join(texts[at] for at in order)}]"
        return (
            f"are two indices swapped? {exchanged} would be inside for every thread "
            "(rows come first in an index, and x first in cuda.grid(2))"
        )
    return ""


def _rounded_up(array: Array, indices: list[Value], mask: Mask) -> bool:
    """Return whether an index counts the threads, or warps, of a launch that is rounded up to whole
    blocks: it leaves the array by less than a block's.

    A launch that has exactly as many as the array, or an axis of it, is not rounded up."""
    group = mask.group
    warps = -(-group.block_threads // WARP_SIZE)
    units = [*zip(group.grid, group.block, strict=True), (group.grid[0], warps)]
    sizes = [int(size) for size in array.shape if not isinstance(size, np.ndarray)]
    counts = {blocks * of_a_block for blocks, of_a_block in units if blocks * of_a_block > 1}
    if math.prod(sizes) == math.prod(group.grid) * group.block_threads or counts & {*sizes}:
        return False
    for index, size in zip(indices, array.shape, strict=False):
        if not isinstance(index, np.ndarray) or isinstance(size, np.ndarray):
            continue
        last = int(np.where(mask.grid(), index, 0).max())
        if any(
            size <= last < blocks * of_a_block < size + of_a_block for blocks, of_a_block in units
        ):
            return True
    return False


def _inside(index: Value, size: Value, mask: Mask) -> bool:
    good = np.greater_equal(index, 0) & np.less(index, size)
    return bool((good | ~mask.grid()).all())


def _long_loop(
    array: Array, indices: list[Value], texts: tuple[str, ...], site: Site, kernel: Kernel
) -> str:
    """Return that a loop runs too far, if its variable is an index and leaves the array."""
    for text, index, size in zip(texts, indices, array.shape, strict=False):
        if isinstance(index, np.ndarray) or isinstance(size, np.ndarray) or index < size:
            continue
        for loop, line in _loops_around(kernel, site, text):
            return f"the loop `{loop}` on line {line} runs too far: {text} must stay below {size}"
    return ""


def _loops_around(kernel: Kernel, site: Site, variable: str) -> Iterator[tuple[str, int]]:
    """Yield the heads and lines of the loops of a variable that hold a place in the text."""
    for function in (kernel, *called_by(kernel)):
        for node in ast.walk(function.tree):
            if not isinstance(node, ast.For) or ast.unparse(node.target) != variable:
                continue
            if node.lineno <= site.line <= (node.end_lineno or node.lineno):
                yield f"for {variable} in {ast.unparse(node.iter)}", node.lineno - function.base
