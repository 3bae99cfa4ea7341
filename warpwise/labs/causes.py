"""Guess why an output is wrong, from the kernel's text and from the elements missing or wrong.

A guess is asked for only once there is a mistake. Which one it is can tell of the data, though
none shows a value of it: a student reads of a hidden case what follows from the text alone."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.labs.compare import Mismatch
from warpwise.labs.exercise import Launch
from warpwise.labs.uses import Uses
from warpwise.messages import Chosen, Message, Words, message
from warpwise.simt import Kernel
from warpwise.traces import Trace

LOOK = "look at the guard and at the index: which thread has this element?"
LOOK_EVERYWHERE = "look at the guard and at the index: which thread has which element?"
SWAPPED = (
    "the threads reach as far as the other axis is long: were x and y swapped? "
    "cuda.grid(2) returns x first, and x counts columns"
)
RETURNED = "a return stands before a barrier: a thread that has returned cannot store later"
BITWISE = "join conditions with the words and, or: & and | bind tighter than < and =="
ONLY_SHARED = "so far only shared memory is written: after the barrier, store from it"
ATOMIC = "an atomic adds to what is there, and {name} holds no numbers yet: store with ="
NAN = (
    "nan comes from 0 / 0, from an infinity minus an infinity, or from one times 0: "
    "which line can meet that?"
)
CLOSE = (
    "close, but not close enough: where does a formula differ a little, "
    "or a number have fewer digits than the exercise asks for?"
)
ALL_WRONG = (
    "every element is wrong: work out {name}[{first}] by hand. "
    "Which thread writes it, and what does that thread read?"
)
SOME_WRONG = (
    "some elements are right: work out by hand which thread writes the first wrong one, "
    "and where it reads from"
)
READ_BACK = "begin with =, not with +=: {name} holds no zeros, so write to it and never read it"
STORES = "write to {name} with =, not with +=, for it holds no zeros before the launch; and "
BY_HAND = (
    "work out by hand an element of {name} near the beginning, one in the middle and the last: "
    "which thread writes it, and what does that thread read?"
)
NEAR = 0.01  # relative error below which a number is close
SAME = 1e-5  # relative difference below which two ratios are one


def of_missing(kernel: Kernel, launch: Launch, name: str, missing: np.ndarray, t: Trace) -> str:
    """Advise on elements of the output ``name`` that were never written; ``missing`` marks them."""
    if surely := _surely(kernel, name):
        return surely
    if not t.metrics.global_store_requests:
        if t.metrics.global_atomic_requests:
            return ATOMIC.format(name=name)
        if t.metrics.shared_store_requests:
            return ONLY_SHARED
        return f"no thread stored anything: write {name}[...] = ..."
    if _looks_swapped(launch, missing):
        return SWAPPED
    return RETURNED if _returns_before_a_barrier(kernel) else LOOK


def of_missing_by_text(kernel: Kernel, name: str, seen: Uses) -> str:
    """Advise on missing elements without a look at them; ``seen``: the uses of the output."""
    if surely := _surely(kernel, name):
        return surely
    if not seen.written and not seen.otherwise:
        return f"no line stores to {name}: write {name}[...] = ..."
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


def factor(got: np.ndarray, want: np.ndarray) -> float | None:
    """Return the one factor from every element of ``want`` to ``got``; None if there is none."""
    if got.shape != want.shape or got.size < 2 or not np.isfinite(got).all():
        return None
    used = want != 0
    if used.sum() < 2 or np.any(got[~used]):
        return None
    ratios = got[used].astype(np.float64) / want[used].astype(np.float64)
    first = float(ratios[0])
    if first == 0 or np.isclose(first, 1, rtol=1e-3):
        return None
    return first if np.allclose(ratios, first, rtol=SAME, atol=0) else None


def of_wrong(name: str, wrong: Mismatch, one_factor: bool) -> Message:
    """Advise on elements that were written and are wrong."""
    guess, known = _guess(name, wrong, one_factor), BY_HAND.format(name=name)
    return message("[[{guess}|{known}]]", guess=Chosen(guess), known=Words(known))


def _guess(name: str, wrong: Mismatch, one_factor: bool) -> str:
    where = wrong.where
    if makes_nan(wrong):
        return NAN
    if _is_near(wrong):
        return CLOSE
    if one_factor:
        return "all elements are off by one factor: is something added more than once, or left out?"
    if where.all():
        first = ", ".join("0" * where.ndim)
        return ALL_WRONG.format(name=name, first=first)
    return SOME_WRONG


def makes_nan(wrong: Mismatch) -> bool:
    """True if a wrong element is nan and should be a number or an infinity."""
    if wrong.got.shape != wrong.want.shape:
        return False
    floats = wrong.got.dtype.kind == wrong.want.dtype.kind == "f"
    return floats and bool((np.isnan(wrong.got) & ~np.isnan(wrong.want)).any())


def _is_near(wrong: Mismatch) -> bool:
    """True if every wrong element is a floating-point number with a relative error below NEAR."""
    got, want = (side[wrong.where].astype(np.float64) for side in (wrong.got, wrong.want))
    return wrong.got.dtype.kind == "f" and bool((np.abs(got - want) <= NEAR * np.abs(want)).all())


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
