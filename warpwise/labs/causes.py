"""Guesses at why an output is not what it should be: from the kernel's text, and from which elements are missing or wrong.

A guess is asked for only once there is a mistake, and never shows a value of the case.
"""

from __future__ import annotations

import ast

import numpy as np

from warpwise.labs.compare import Mismatch
from warpwise.labs.exercise import Launch
from warpwise.simt import Kernel
from warpwise.trace import Trace

LOOK = "look at the guard and at the index: which thread has this element?"
SWAPPED = "the threads reach as far as the other axis: were x and y swapped? cuda.grid(2) returns x first, and x counts columns"
RETURNED = "a return stands before a barrier: a thread that has returned cannot store later"
BITWISE = "join conditions with the words and, or: & and | are worked out before < and =="
ONLY_SHARED = "so far only shared memory is written: after the barrier, store from it"
ATOMIC = "an atomic adds to what is there, and {name} holds no numbers yet: store with ="
NAN = "nan comes from 0 / 0, from an infinity minus an infinity, or from one times 0: which line can meet that?"
CLOSE = "close, but not close enough: where does a formula differ a little, or something have fewer digits than the exercise asks for?"
NEAR = 0.01  # of what it should be: a number that is off by less is close
SAME = 1e-5  # two ratios nearer than this are one ratio


def of_missing(kernel: Kernel, launch: Launch, name: str, missing: np.ndarray, t: Trace) -> str:
    """What to try when elements of the output ``name`` were never written; ``missing`` marks them."""
    if _rebinds(kernel, name):
        return f"store with an index, {name}[...] = ...; {name} = ... only gives the name to something else"
    if _chains_bits(kernel):
        return BITWISE
    if not t.metrics.global_store_requests:
        if t.metrics.global_atomic_requests:
            return ATOMIC.format(name=name)
        return ONLY_SHARED if t.metrics.shared_store_requests else f"no thread stored anything: write {name}[...] = ..."
    if _looks_swapped(launch, missing):
        return SWAPPED
    return RETURNED if _returns_before_a_barrier(kernel) else LOOK


def factor(got: np.ndarray, want: np.ndarray) -> float | None:
    """The one number that every element of ``want`` was multiplied by to give ``got``; None if there is none."""
    if got.shape != want.shape or got.size < 2 or not np.isfinite(got).all():
        return None
    used = want != 0
    if used.sum() < 2 or np.any(got[~used]):
        return None
    ratios = got[used].astype(np.float64) / want[used].astype(np.float64)
    one = ratios[0] and not np.isclose(ratios[0], 1, rtol=1e-3) and np.allclose(ratios, ratios[0], rtol=SAME, atol=0)
    return float(ratios[0]) if one else None


def of_wrong(name: str, wrong: Mismatch, one_factor: bool) -> str:
    """What to try when elements were written and are wrong."""
    where = wrong.where
    if makes_nan(wrong):
        return NAN
    if _is_near(wrong):
        return CLOSE
    if one_factor:
        return "all elements are off by the same factor: is something added more than once, or left out?"
    if where.all():
        first = ", ".join("0" * where.ndim)
        return f"every element is wrong: work out {name}[{first}] by hand. Which thread writes it, and what does that thread read?"
    return "some elements are right: work out by hand which thread writes the first wrong one, and from where it reads"


def makes_nan(wrong: Mismatch) -> bool:
    """Whether a wrong element is nan and should be a number or an infinity."""
    floats = wrong.got.dtype.kind == wrong.want.dtype.kind == "f" and wrong.got.shape == wrong.want.shape
    return floats and bool((np.isnan(wrong.got) & ~np.isnan(wrong.want)).any())


def _is_near(wrong: Mismatch) -> bool:
    """Whether every wrong element is a floating-point number within a hundredth of what it should be."""
    got, want = (side[wrong.where].astype(np.float64) for side in (wrong.got, wrong.want))
    return wrong.got.dtype.kind == "f" and bool((np.abs(got - want) <= NEAR * np.abs(want)).all())


def _rebinds(kernel: Kernel, name: str) -> bool:
    return any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == name for n in ast.walk(kernel.tree))


def _chains_bits(kernel: Kernel) -> bool:
    """``a < b & c < d``, which Python reads as ``a < (b & c) < d``."""
    chains = (n for n in ast.walk(kernel.tree) if isinstance(n, ast.Compare) and len(n.ops) > 1)
    inner = (part for chain in chains for part in chain.comparators[:-1])
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, (ast.BitAnd, ast.BitOr)) for part in inner)


def _looks_swapped(launch: Launch, missing: np.ndarray) -> bool:
    """Whether the missing elements are those that the threads cannot reach with x and y swapped, and only so."""
    if missing.ndim != 2 or isinstance(launch.blocks, int) or isinstance(launch.threads, int):
        return False
    reach = [blocks * threads for blocks, threads in zip(launch.blocks[:2], launch.threads[:2], strict=False)]
    first, second = np.indices(missing.shape)
    ways = [(first >= a) | (second >= b) for a, b in (reach, reversed(reach))] if len(reach) == 2 else []
    return any(way.any() and np.array_equal(way, missing) for way in ways) and not all(way.any() for way in ways)


def _returns_before_a_barrier(kernel: Kernel) -> bool:
    nodes = list(ast.walk(kernel.tree))
    barriers = [n.lineno for n in nodes if getattr(n, "attr", getattr(n, "id", "")) == "syncthreads"]
    return any(isinstance(n, ast.Return) and n.lineno < max(barriers, default=0) for n in nodes)
