"""Divergence: a warp whose lanes take different paths executes every path, one after another.

Each thread takes one of ``paths`` paths of equal length, chosen by its lane or by its warp. In the
second case a warp has a single path, and does the same work in the time of one. A path is a loop,
too long for a compiler to run all lanes through it and keep the results of some.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step

THREADS, WARP = 256, 32
UNROLLED = 16  # steps per iteration of the loop


@cuda.jit
def divergence_ways(start, target, paths, group, trips):
    """A step of path p is value = (p + 1) / 64 + (1 - 1/256) * value.

    ``group``: how many neighbouring threads take the same path.
    """
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


def run_1_lanes(start: Array, target: Array, paths: int, steps: int) -> None:
    """Neighbouring lanes take different paths. ``steps``: a multiple of UNROLLED.

    ``start``, ``target``: float32, a multiple of THREADS of them.
    """
    divergence_ways[start.size // THREADS, THREADS](
        start, target, np.uint32(paths), np.uint32(1), np.uint32(steps // UNROLLED)
    )


def run_2_warps(start: Array, target: Array, paths: int, steps: int) -> None:
    """The lanes of a warp take one path, and neighbouring warps different ones."""
    divergence_ways[start.size // THREADS, THREADS](
        start, target, np.uint32(paths), np.uint32(WARP), np.uint32(steps // UNROLLED)
    )


def expected(xp: Any, start: Array, paths: int, steps: int, group: int) -> Array:
    """Return the threads' results in float64, by a closed form of the paths.

    ``group``: 1 if lanes choose, 32 if warps do.
    """
    mine = (xp.arange(start.size) // group) % paths
    fixed = (mine + 1) / 64 * 256  # value - fixed shrinks by the factor in each step
    return fixed + (start.astype("float64") - fixed) * (1 - 1 / 256) ** steps


def flops(threads: int, steps: int) -> int:
    """Return two operations for the multiply-add in each step, not counting inactive lanes."""
    return 2 * threads * steps


TYPES = "float32[::1], float32[::1], uint32, uint32, uint32"
STEPS = (
    Step(
        "divergence_1_lanes",
        "the lanes of a warp take different paths",
        run_1_lanes,
        (Built(divergence_ways, TYPES, THREADS, 8),),
    ),
    Step(
        "divergence_2_warps",
        "each warp takes one path",
        run_2_warps,
        (Built(divergence_ways, TYPES, THREADS, 8),),
    ),
)
