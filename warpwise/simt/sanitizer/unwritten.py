"""The error of a read where nothing was written, and what may have kept a part from being written.

How much of an array is written when it is read tells of the launch, so it is private."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import Location, UnwrittenReadError
from warpwise.messages import Chosen, Element, Name, Words, message
from warpwise.simt.frontend.called import called_by
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.machine.memory import Array, Memory
from warpwise.simt.types import Lanes

SOME = "{written} of the {size} elements of {array} are written by then: {ask}? If not: "
GUARDED = (
    "does `if {test}` on line {line} keep threads from storing the others, or do several threads "
    "store the same ones"
)
BEGIN = (
    "{array} holds no numbers at first, and += reads the element that it adds to: before the loop, "
    "set each element of {array}, to 0 for a sum"
)
APART = (
    "lanes read {pitch} elements apart, and what is written lies {how}: is a row as long where it "
    "is stored as where it is read? If that is not it: "
)
EACH = "should each of the others have a thread, or a trip of a loop, that stores it"


def part_written(kernel: Kernel, array: Memory, written: int) -> str:
    """Ask who stores the rest of an array of which so many elements are; "" for all or none."""
    if not 0 < written < array.size:
        return ""
    ask = next((GUARDED.format(test=t, line=n) for t, n in _guards(kernel, array.name)), EACH)
    return SOME.format(written=written, size=array.size, array=array.name, ask=ask)


def apart(written: Lanes, read: Lanes) -> str:
    """Say that rows are read at another pitch than they are written at; "" unless they are.

    ``written``: whether each element of an array is; ``read``: the first one of each lane's."""
    steps, times = np.unique(np.diff(read), return_counts=True)
    if not steps.size or steps[at := int(times.argmax())] < 2 or 2 * times[at] < read.size:
        return ""
    pitch, ends = int(steps[at]), np.flatnonzero(np.diff(written, prepend=False, append=False))
    begins, lengths = ends[::2], ends[1::2] - ends[::2]
    if not len(begins):
        return ""
    if len(begins) == 1:
        length = int(lengths[0])
        if length <= pitch or length % pitch == 0:
            return ""
        how = f"as one run of {length} elements"
    else:
        gaps = set(np.diff(begins).tolist())
        if len(gaps) > 1 or gaps == {pitch} or len({*lengths.tolist()}) > 1:
            return ""
        how = f"in runs of {lengths[0]} elements that begin {gaps.pop()} apart"
    return APART.format(how=how, pitch=pitch)


def _guards(kernel: Kernel, array: str) -> list[tuple[str, int]]:
    """Return the conditions under which a text stores to an array, with their lines."""
    found = []
    for function in (kernel, *called_by(kernel)):
        for node in ast.walk(function.tree):
            if isinstance(node, ast.If) and any(_stores(part, array) for part in ast.walk(node)):
                found.append((ast.unparse(node.test), node.lineno - function.base))
    return found


def _stores(node: ast.AST, array: str) -> bool:
    stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    return stored and ast.unparse(node.value) == array  # type: ignore[attr-defined]


def unwritten(
    array: Array,
    where: Location,
    index: tuple[int, ...] | None = None,
    view: str = "",
    part: str = "",
) -> UnwrittenReadError:
    """Return the error of a read where nothing was written.

    ``index``: of the element, if it is known; ``view``: what it was read through; ``part``: what
    ``apart`` or ``part_written`` says."""
    name = Name(array.name)
    element = name if index is None else Element(name, index)
    what = message(
        "{element} is read{through}, but nothing was written there: "
        "{space} memory starts with whatever was left in it",
        element=element,
        through=message(" through {view}", view=Name(view)) if view else Words(""),
        space=Words(array.space),
    )
    others = (
        ": do the stores before the barrier fill the whole array, "
        "or did the thread that should have written it return early?"
    )
    own = (
        "local memory is each thread's own, and no thread sees what others write there: "
        "what a block shares is made by cuda.shared.array. If it is meant to be the thread's own: "
    )
    try_this = message(
        "{own}[[{part}]]should this thread read at all? Check its guard and its index. "
        "If it should, write [[{element}|that element of {array}]] first{others}",
        own=Words(own if array.space == "local" else ""),
        part=Chosen(part),
        element=element,
        array=name,
        others=Words(others if array.space == "shared" else ""),
    )
    if array.space == "local" and _adds_to(where.text, array.name):
        begin = Chosen(BEGIN.format(array=array.name))
        try_this = message("[[{begin}|{usual}]]", begin=begin, usual=try_this)
    return UnwrittenReadError(what, where, try_this)


def _adds_to(text: str, array: str) -> bool:
    """True if a line adds to an element of an array, or takes from it: ``sums[i] += 1``."""
    try:
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return False
    target = node.target if isinstance(node, ast.AugAssign) else None
    return isinstance(target, ast.Subscript) and ast.unparse(target.value) == array
