"""Guess why an output is wrong, from the kernel's text and from the elements missing or wrong.

A guess is asked for only once there is a mistake. Which one it is can tell of the data, though
none shows a value of it: a student reads of a hidden case what follows from the text alone."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warpwise.errors import WarpwiseError
from warpwise.labs.exercise import Launch
from warpwise.labs.patterns import Failure, Pattern, find, of_fewer_axes, place, places
from warpwise.labs.patterns.failure import MASKED, RESCALED, TERMS
from warpwise.labs.uses import Uses, uses
from warpwise.messages import Later, Message, Words, message
from warpwise.simt import Kernel, as_kernel
from warpwise.traces import Trace

LOOK = "look at the guard and at the index: which thread has this element?"
LOOK_EVERYWHERE = "look at the guard and at the index: which thread has which element?"
SWAPPED = (
    "the threads reach as far as the other axis is long: were x and y swapped? "
    "cuda.grid(2) returns x first, and x counts columns"
)
RETURNED = "a return stands before a barrier: a thread that has returned cannot store later"
NO_LINE = "no line stores to {name}: write {name}[...] = ..."
ZEROS_DUE = "where nothing is added the result is 0, and that is stored too: is it left out?"
BITWISE = "join conditions with the words and, or: & and | bind tighter than < and =="
ONLY_SHARED = "so far only shared memory is written: after the barrier, store from it"
ATOMIC = "an atomic adds to what is there, and {name} holds no numbers yet: store with ="
CATCH_ALL = frozenset({MASKED, RESCALED, TERMS})  #: causes that many mistakes share
THREAD = "hich thread writes it, and"  #: in advice that has no cause to name
ALL_WRONG = (
    "every element is wrong: work out {name}[{first}] by hand. "
    "Which thread writes it, and what does that thread read?"
)
SOME_WRONG = (
    "{right} is right, and others are: work out by hand how the first wrong one differs from it, "
    "which thread writes it, and where that reads from"
)
READ_BACK = "begin with =, not with +=: {name} holds no zeros, so write to it and never read it"
STORES = "write to {name} with =, not with +=, for it holds no zeros before the launch; and "
OWN_ELEMENT = f"each element is made of those with its own index: if that is right, {TERMS}"
BY_HAND = (
    "work out by hand an element of {name} near the beginning, one in the middle and the last: "
    "which thread writes it, and what does that thread read?"
)


def of_missing(
    kernel: Kernel, launch: Launch, name: str, missing: np.ndarray, want: np.ndarray, t: Trace
) -> tuple[str, ...]:
    """Return what makes elements of the output ``name`` stay unwritten, most likely first.

    ``missing`` marks them. A cause that stands alone is sure."""
    if surely := _surely(kernel, name):
        return (surely,)
    if not t.metrics.global_store_requests:
        if t.metrics.global_atomic_requests:
            return (ATOMIC.format(name=name),)
        if t.metrics.shared_store_requests:
            return (ONLY_SHARED,)
        return (f"no thread stored anything: write {name}[...] = ...",)
    seen = uses(kernel, name)
    if not seen.written and not seen.otherwise:
        return (NO_LINE.format(name=name),)
    if _looks_swapped(launch, missing):
        return (SWAPPED,)
    if _returns_before_a_barrier(kernel):
        return (RETURNED,)
    if _begins_behind_the_threads(launch, missing):
        return (places.FEW_THREADS,)
    if _only_zeros(missing, want):
        return ZEROS_DUE, LOOK
    found = place(missing, tile_of(launch))
    return found.causes if found else (LOOK, places.SHARES)


def with_place(causes: tuple[str, ...], repaired: Callable[[], str]) -> str:
    """Return two causes at most; first a small change that helps, unless one is sure."""
    return _two(repaired() if len(causes) != 1 else "", *causes)


def _joined(unused: str, repaired: str, causes: Sequence[str]) -> str:
    """Join the two likeliest causes; lines to look at come after causes that say more than to
    compare."""
    if not repaired or "\n" in repaired or CATCH_ALL.issuperset(causes[:2]):
        return _two(unused, repaired, *causes)
    said = _two(unused, *causes)
    return f"{said}{'' if said.endswith('?') else '.'} {repaired}"


def _two(*causes: str) -> str:
    """Join the first two of these that are not empty; places stand on lines below."""
    chosen = [cause.partition("\n") for cause in causes if cause][:2]
    said, places = [one[0] for one in chosen], [one[2] for one in chosen if one[2]]
    join = " Or: " if chosen and said[0].endswith("?") else "; or "
    return "\n".join([join.join(said), *places])


def _only_zeros(missing: np.ndarray, want: np.ndarray) -> bool:
    """True if the missing elements are those that should be 0."""
    return not missing.all() and not want[missing].any()


def where_missing(launch: Launch, missing: np.ndarray, want: np.ndarray) -> str:
    """Say which elements were never written, as far as a rule tells; "" if none does."""
    if _only_zeros(missing, want):
        count, due = int(missing.sum()), int((want == 0).sum())
        some = "the only element" if due == 1 else f"all {due} elements"
        which = some if count == due else f"{count} of the {due} elements"
        return f"\nmissing: {which} that should be 0"
    found = place(missing, tile_of(launch))
    return f"\nmissing: {found.told}" if found else ""


def tile_of(launch: Launch) -> tuple[int, ...]:
    """Return the threads of a block, rows first."""
    threads = launch.threads
    return (threads,) if isinstance(threads, int) else tuple(reversed(threads))


def _begins_behind_the_threads(launch: Launch, missing: np.ndarray) -> bool:
    """True if the missing elements are those that no thread has the number of."""
    threads = int(np.prod((*np.ravel(launch.blocks), *np.ravel(launch.threads)), dtype=np.int64))
    flat = missing.ravel()
    return (
        missing.ndim == 1
        and threads < flat.size
        and np.array_equal(flat, np.arange(flat.size) >= threads)
    )


def of_missing_by_text(kernel: Kernel, name: str, seen: Uses) -> str:
    """Advise on missing elements without a look at them; ``seen``: the uses of the output."""
    if surely := _surely(kernel, name):
        return surely
    if not seen.written and not seen.otherwise:
        return NO_LINE.format(name=name)
    if seen.atomic and not seen.otherwise:
        return ATOMIC.format(name=name)
    look = RETURNED if _returns_before_a_barrier(kernel) else LOOK_EVERYWHERE
    return (STORES.format(name=name) if seen.read else "") + look


def _surely(kernel: Kernel, name: str) -> str:
    """Advise on what the text alone shows to be wrong; "" if it shows nothing."""
    if _rebinds(kernel, name):
        only = f"{name} = ... only gives the name to something else"
        return f"store with an index, {name}[...] = ...; {only}"
    return BITWISE if _chains_bits(kernel) else ""


def told(
    failure: Callable[[], Failure], repaired: Callable[[], str], known: str, usual: str = ""
) -> tuple[Message, Message]:
    """Return what wrong elements have in common, and the two likeliest causes as advice.

    Both are found when somebody reads them, and are the owner's alone; ``known`` is the advice that
    fits every case. ``repaired`` asks about a small change that helps, with its place on a line
    below, or else names lines to look at, or says nothing. ``usual`` is advised where there is no
    cause; by default to look at an element."""

    @functools.cache
    def found() -> tuple[Failure, Pattern | None]:
        one = failure()
        pattern = find(one)
        return one, of_fewer_axes(one, pattern) or pattern

    def seen() -> str:
        one, pattern = found()
        known = (pattern.seen if pattern else "", one.right_too)
        return "".join(f"\n{text}" for text in known if text)

    @functools.cache
    def guess() -> str:
        one, pattern = found()
        causes = pattern.causes if pattern else ()
        if pattern and pattern.sure:
            return _two(*causes)
        return _joined(one.unused, repaired(), causes) or usual or _by_hand(one)

    remedy = message("[[{guess}|{known}]]", guess=Later(guess), known=Words(known))
    return message("[[{seen}]]", seen=Later(seen)), remedy


def _by_hand(failure: Failure) -> str:
    """Advise on elements that have nothing in common that can be seen."""
    if failure.elementwise:
        return OWN_ELEMENT
    if failure.wrong.all():
        first = ", ".join("0" * failure.wrong.ndim)
        return ALL_WRONG.format(name=failure.name, first=first)
    right = tuple(np.argwhere(~failure.wrong)[0].tolist())
    return SOME_WRONG.format(right=failure.element(right))


def words_of(tree: ast.AST) -> frozenset[str]:
    """Return the names that a text uses, / or // if it divides, and if where it has conditions."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for symbol, kind in (("/", ast.Div), ("//", ast.FloorDiv), ("if", ast.Compare)):
        names |= {symbol for node in nodes if isinstance(node, kind)}
    return frozenset(names)


def is_of_lanes(kernel: Any) -> bool:
    """True if the text of a kernel exchanges values between lanes, or asks for a lane's number."""
    try:
        words = words_of(as_kernel(kernel).tree)
    except WarpwiseError:
        return False
    return any(word == "laneid" or word.startswith("shfl") for word in words)


def _rebinds(kernel: Kernel, name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == name
        for n in ast.walk(kernel.tree)
    )


def _chains_bits(kernel: Kernel) -> bool:
    """``a < b & c < d``, which Python reads as ``a < (b & c) < d``."""
    chains = (n for n in ast.walk(kernel.tree) if isinstance(n, ast.Compare) and len(n.ops) > 1)
    inner = (part for chain in chains for part in chain.comparators[:-1])
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, (ast.BitAnd, ast.BitOr))
        for part in inner
    )


def _looks_swapped(launch: Launch, missing: np.ndarray) -> bool:
    """True if the missing elements are those out of reach with x and y swapped, and only so."""
    if missing.ndim != 2 or isinstance(launch.blocks, int) or isinstance(launch.threads, int):
        return False
    reach = [b * t for b, t in zip(launch.blocks[:2], launch.threads[:2], strict=False)]
    if len(reach) != 2:
        return False
    first, second = np.indices(missing.shape)
    ways = [(first >= a) | (second >= b) for a, b in (reach, reversed(reach))]
    matches = any(way.any() and np.array_equal(way, missing) for way in ways)
    return matches and not all(way.any() for way in ways)


def _returns_before_a_barrier(kernel: Kernel) -> bool:
    nodes = list(ast.walk(kernel.tree))
    named = [n for n in nodes if isinstance(n, ast.Attribute | ast.Name)]
    names = [(n.attr if isinstance(n, ast.Attribute) else n.id, n.lineno) for n in named]
    last = max((line for name, line in names if name == "syncthreads"), default=0)
    return any(isinstance(n, ast.Return) and n.lineno < last for n in nodes)
