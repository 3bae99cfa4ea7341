"""Advice on races: sentences, and what the text of a line says, such as an update of an element."""

from __future__ import annotations

import ast

REPEAT = "thread numbers repeat from block to block: does the index count the blocks before"
IN_A_LOOP = (
    "several threads come to the same index in a loop: does each begin with an element of its own, "
    "and go on by as many as there are threads that share them? Or should only one of them store?"
)
OF_TWO_BLOCKS = (
    "two blocks come to the same index in a loop: does each begin where the one before it ends, "
    "and does a loop go on by as many as there are threads that share it?"
)
SAME_ROUND = (
    "in a loop, that means in every trip. If it is there: do threads read here what others of them "
    "store, and how far apart should the two elements lie?"
)
OF_A_BLOCK = (
    "the index is the same for all threads of a block: should it hold the number of the thread "
    "too, as {grid} does, or of its warp?"
)
TWO_STORES = (
    "two lines store to the same element of {array}: should their indices differ, so that each "
    "element has one thread that stores it?"
)
OTHER_PART = (
    "both lines take {array}[{part}, ...], without a barrier between them: should one of the two "
    "take the other part, such as the one that the trip before has filled?"
)
TAKE_TURNS = (
    "; if {array} has two tiles that take turns, {read} should read one in this trip while {write} "
    "writes the other"
)
OWN_COPIES = (
    "cp_async_wait is for a thread's own copies: cuda.syncthreads() after it, where all threads of "
    "the block pass, makes those of the others visible"
)
COPY_TOO_EARLY = (
    "a copy may write from {copy} on: cuda.syncthreads() between the last use of these elements "
    "and that line; in a pipeline, the barrier after the wait is enough if the copy is started "
    "behind it, to a stage that nobody reads in this trip"
)
ORDER = {
    "warp": "cuda.syncthreads() between the two, for the lanes of a warp need not keep in step; "
    "cuda.syncwarp() is enough only where no other warp of the block uses these elements",
    "block": "cuda.syncthreads() between the two, where all threads of the block pass",
    "grid": "blocks run in any order, and syncthreads does not reach across them: do the later "
    "part in a second launch, or after cuda.cg.this_grid().sync(); where an atomic counter finds "
    "the last block, cuda.threadfence() before that atomic",
}

BY_ATOMIC = "o combine the values of several threads, use cuda.atomic.add"
BY_PLACES = (
    "o combine the values of several threads, give each a place of its own, and let one thread add "
    "these up in the end"
)
#: by the array's space: what to try without a look at the two accesses
ANY_ORDER = {
    "shared": "cuda.syncthreads() between writing an element and reading it in another thread, "
    "where all threads of the block pass; in a loop, that means in every trip, and once more "
    f"before the array is written again. T{BY_ATOMIC}",
    "global": f"let only one thread write each element, and no other thread read it; t{BY_ATOMIC}. "
    "cuda.syncthreads() orders the threads of one block; blocks run in any order, so what reads "
    "the results of other blocks belongs in a second launch",
}
#: by scope: what to ask of an update where no atomics are allowed
WHOSE = {
    "warp": "several lanes update one {part} of {array}: should each have a place of its own, or "
    "one lane store what shuffles have added up?",
    "block": "several threads update one {part} of {array}: should each of them, or each warp, "
    "have a place of its own, and one thread add these up after cuda.syncthreads()?",
    "grid": "two blocks take the same {part} of {array}: does each begin with its own, and does a "
    "loop go on by as many as all blocks take together?",
}

_ATOMIC = {ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}


def joined(*texts: str) -> str:
    """Join advice with semicolons; what follows a question is a sentence of its own."""
    said = ""
    for text in filter(None, texts):
        if said.endswith("?"):
            said += f" {text[0].upper()}{text[1:]}"
        else:
            said += f"; {text}" if said else text
    return said


def without_atomics(text: str) -> str:
    """Return advice with another way to combine values than an atomic."""
    return text.replace(BY_ATOMIC, BY_PLACES)


def part_of_several(array: str, one: str, other: str) -> str:
    """Return the first index, such as ``s % 2``, that both lines have for a part of an array of
    several; "" if they have none, or others."""
    first, second = _parts(array, one), _parts(array, other)
    return first if first == second else ""


def _parts(array: str, text: str) -> str:
    for node in ast.walk(_statement(text) or ast.Pass()):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=[part, _, *_])):
                if name == array and _is_part(part, node):
                    return ast.unparse(part)
    return ""


def _is_part(index: ast.expr, element: ast.Subscript) -> bool:
    """True for ``s % 2``, and for a number before two other indices."""
    number = isinstance(index, ast.Constant) and isinstance(element.slice, ast.Tuple)
    of_three = number and len(element.slice.elts) > 2  # type: ignore[attr-defined]
    return of_three or any(isinstance(node, ast.Mod) for node in ast.walk(index))


def _statement(text: str) -> ast.stmt | None:
    """The one statement of a source line, if it parses alone."""
    try:
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node


def reads_beside(text: str) -> bool:
    """True if a line reads the array that it writes, at another index.

    Such as ``part[t] += part[t + half]``."""
    match _statement(text):
        case ast.AugAssign(target=target, value=value) | ast.Assign(targets=[target], value=value):
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            return any(isinstance(one, ast.Subscript) and _beside(one, value) for one in targets)
    return False


def _beside(target: ast.Subscript, value: ast.expr) -> bool:
    """True if an expression reads the array of a target at another index."""
    array = ast.unparse(target.value)
    read = {
        ast.unparse(n)
        for n in ast.walk(value)
        if isinstance(n, ast.Subscript) and ast.unparse(n.value) == array
    }
    return bool(read - {ast.unparse(target)})


def as_atomic(text: str) -> str:
    """``cuda.atomic.add(hist, i, 1)`` for ``hist[i] += 1``; "" where there is no such call.

    Also for ``hist[i] = hist[i] + 1``, and for max and min."""
    match _statement(text):
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            name = _ATOMIC.get(type(op), "")
        case ast.Assign(
            targets=[ast.Subscript() as target], value=ast.BinOp(left=left, op=op, right=value)
        ) if ast.unparse(left) == ast.unparse(target):
            name = _ATOMIC.get(type(op), "")
        case ast.Assign(
            targets=[ast.Subscript() as target],
            value=ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, value]),
        ) if ast.unparse(left) == ast.unparse(target):
            pass
        case _:
            return ""
    index = ast.unparse(target.slice)
    if isinstance(target.slice, ast.Tuple) and not index.startswith("("):
        index = f"({index})"
    array = ast.unparse(target.value)
    return name and f"cuda.atomic.{name}({array}, {index}, {ast.unparse(value)})"
