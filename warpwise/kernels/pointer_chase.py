"""Latency: dependent loads, each of which returns the address of the next.

One thread follows links through an array. Only one load is in flight at a time, so the time of a
step is the latency of a load, with the little arithmetic that makes an address of its value. The
position of the links determines which memory answers: a short cycle stays in L1, a longer one in
L2, a long one in neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.native import native, ptx
from warpwise.kernels.step import Array, Built, Step

LINE_BYTES = 128
WORDS = LINE_BYTES // 4  # from one link to the next, so that each has a cache line of its own
SHARED_WORDS = 4096  # 16 KB
THREADS = 256  # that copy; one goes on
UNROLLED = 16  # steps per iteration, so that loop overhead is negligible


def _clock():
    return np.int64(0)


@native(_clock)
def clock(typingctx):
    """Return the multiprocessor's clock counter; 0 in the simulator, which has none."""
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        return ptx(builder, "mov.u64 $0, %clock64;", ir.IntType(64), ["l"], [], volatile=True)

    return types.int64(), generate


@cuda.jit
def pointer_chase_1_global(links, trips, ends, clocks):
    """Continue from the end of the last run, ``ends[1]``, so that a long cycle is completed.

    ``ends``: where this run begins and ends.
    """
    at = begin = ends[1]
    start = clock()
    while trips > np.uint32(0):
        for _ in range(UNROLLED):
            at = links[at]
        trips = np.uint32(trips - np.uint32(1))
    ends[0] = begin
    ends[1] = at
    clocks[0] = clock() - start


@cuda.jit
def pointer_chase_2_shared(links, trips, ends, clocks):
    """The same in shared memory, by one thread of a block that copies the links there."""
    near = cuda.shared.array(SHARED_WORDS, np.uint32)
    t = np.uint32(cuda.threadIdx.x)
    for k in range(SHARED_WORDS // THREADS):
        near[t + np.uint32(k * THREADS)] = links[t + np.uint32(k * THREADS)]
    cuda.syncthreads()
    if t == np.uint32(0):
        at = begin = ends[1]
        start = clock()
        while trips > np.uint32(0):
            for _ in range(UNROLLED):
                at = near[at]
            trips = np.uint32(trips - np.uint32(1))
        ends[0] = begin
        ends[1] = at
        clocks[0] = clock() - start


def run_1_global(links: Array, steps: int, ends: Array, clocks: Array) -> None:
    """``steps``: a multiple of UNROLLED. ``links``: uint32, word numbers. ``ends``: two uint32.

    ``clocks``: one int64, for all steps.
    """
    pointer_chase_1_global[1, 1](links, np.uint32(steps // UNROLLED), ends, clocks)


def run_2_shared(links: Array, steps: int, ends: Array, clocks: Array) -> None:
    """``links``: SHARED_WORDS words, whose copy is not part of ``clocks``."""
    pointer_chase_2_shared[1, THREADS](links, np.uint32(steps // UNROLLED), ends, clocks)


def cycle(lines: int, seed: int = 0) -> np.ndarray:
    """Return the order in which a chase visits ``lines`` cache lines: each once, at random.

    Line 0 is the first.
    """
    order = np.random.default_rng(seed).permutation(np.arange(lines, dtype=np.uint32))
    return np.roll(order, -int(np.flatnonzero(order == 0)[0]))


def linked(xp: Any, order: np.ndarray, words: int = WORDS) -> Array:
    """Return the links of a cycle, an array of ``xp`` (NumPy or CuPy).

    The first word of a line holds the number of the next line's first word. ``words``: from one
    link to the next.
    """
    links = xp.zeros(order.size * words, "uint32")
    links[xp.asarray(order.astype(np.int64) * words)] = xp.asarray(
        np.roll(order, -1) * np.uint32(words)
    )
    return links


def walked(order: np.ndarray, begin: int, end: int) -> int:
    """Return the steps of a cycle from one line to another: fewer than it has lines."""
    return int(np.flatnonzero(order == end)[0] - np.flatnonzero(order == begin)[0]) % order.size


TYPES = "uint32[::1], uint32, uint32[::1], int64[::1]"
STEPS = (
    Step(
        "pointer_chase_1_global",
        "one thread follows links through global memory",
        run_1_global,
        (Built(pointer_chase_1_global, TYPES, 32, opcodes=("LDG.E", "CS2R")),),
    ),
    Step(
        "pointer_chase_2_shared",
        "the links are in shared memory",
        run_2_shared,
        (Built(pointer_chase_2_shared, TYPES, THREADS, opcodes=("LDS", "CS2R")),),
    ),
)
