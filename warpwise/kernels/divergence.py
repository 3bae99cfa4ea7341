"""Divergence: a warp whose lanes go different ways takes every way, one after the other.

Each thread takes one of ``paths`` ways, all of them equally long. Which one depends on its lane, or on its warp: then a warp has one way
only, and the same work is done in the time of one. A way is a loop, too long for a compiler to let every lane go through it and keep
the results of some.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Built, Step

THREADS, WARP = 256, 32
UNROLLED = 16  # steps to a trip of the loop


@cuda.jit
def divergence_ways(start, target, paths, group, trips):
    """``group``: how many neighbouring threads go the same way. A step of way p is value = (p + 1) / 64 + (1 - 1/256) * value."""
    i = np.uint32(cuda.grid(1))
    mine = (i // group) % paths
    value = start[i]
    path = np.uint32(0)
    while path < paths:
        if path == mine:
            step = np.float32(path + np.uint32(1)) * np.float32(1 / 64)
            left = trips
            while left > np.uint32(0):
                for _ in range(UNROLLED):
                    value = step + np.float32(1 - 1 / 256) * value
                left = np.uint32(left - np.uint32(1))
        path = np.uint32(path + np.uint32(1))
    target[i] = value


def run_1_lanes(start, target, paths: int, steps: int) -> None:
    """Neighbouring lanes go different ways. ``start``, ``target``: float32, a multiple of THREADS. ``steps``: a multiple of UNROLLED."""
    divergence_ways[start.size // THREADS, THREADS](start, target, np.uint32(paths), np.uint32(1), np.uint32(steps // UNROLLED))


def run_2_warps(start, target, paths: int, steps: int) -> None:
    """The lanes of a warp go one way, and neighbouring warps different ones."""
    divergence_ways[start.size // THREADS, THREADS](start, target, np.uint32(paths), np.uint32(WARP), np.uint32(steps // UNROLLED))


def expected(xp, start, paths: int, steps: int, group: int):
    """What the threads should find, in float64: the ways' closed form. ``group``: 1 where lanes choose, 32 where warps do."""
    mine = (xp.arange(start.size) // group) % paths
    fixed = (mine + 1) / 64 * 256  # value - fixed shrinks by the factor in each step
    return fixed + (start.astype("float64") - fixed) * (1 - 1 / 256) ** steps


def flops(threads: int, steps: int) -> int:
    """A multiply-add, two operations, in every step of a thread; those of the lanes that wait are not counted."""
    return 2 * threads * steps


TYPES = "float32[::1], float32[::1], uint32, uint32, uint32"
STEPS = (
    Step("divergence_1_lanes", "the lanes of a warp go different ways", run_1_lanes, (Built(divergence_ways, TYPES, THREADS, 8),)),
    Step("divergence_2_warps", "each warp goes one way", run_2_warps, (Built(divergence_ways, TYPES, THREADS, 8),)),
)
