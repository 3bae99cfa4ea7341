"""The highest rate of multiply-adds: a loop of nothing else, with enough independent ones.

A thread rotates ``PAIRS`` points (x, y): x += c y, then y -= c x. The points keep their distance
from the centre, so the numbers stay as varied as the first ones, however long it takes.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step

THREADS = 256
BLOCKS_PER_SM = 8  # 64 warps: as many as an SM of compute capability 9.0 holds
PAIRS = 8  # of independent multiply-adds
UNROLLED = 8
TURN = 1 / 64  # exact in float32


@cuda.jit
def ffma_1_peak(start, turns, target, trips):
    """Rotate the points (start[i] + k, -start[i]), k < PAIRS; then sum all coordinates.

    There are ``trips`` times UNROLLED turns. ``turns`` holds one c for each thread: a compiler that
    knew all to be the same would not keep it in a register.
    """
    i = np.uint32(cuda.grid(1))
    turn = turns[i]
    x = cuda.local.array(PAIRS, np.float32)
    y = cuda.local.array(PAIRS, np.float32)
    for k in range(PAIRS):
        x[k] = start[i] + np.float32(k)
        y[k] = -start[i]
    while trips > np.uint32(0):
        for _ in range(UNROLLED):
            for k in range(PAIRS):
                x[k] += turn * y[k]
            for k in range(PAIRS):
                y[k] -= turn * x[k]
        trips = np.uint32(trips - np.uint32(1))
    total = np.float32(0)
    for k in range(PAIRS):
        total += x[k] + y[k]
    target[i] = total


def run_1_peak(start: Array, turns: Array, target: Array, trips: int) -> None:
    """``start``, ``turns`` (TURN everywhere), ``target``: float32, a multiple of THREADS each."""
    ffma_1_peak[start.size // THREADS, THREADS](start, turns, target, np.uint32(trips))


def flops(threads: int, trips: int) -> int:
    """Return two operations per multiply-add, of which a turn of a point has two.

    The few around the loop are not counted.
    """
    return 2 * 2 * PAIRS * UNROLLED * trips * threads


def expected(start: np.ndarray, trips: int) -> np.ndarray:
    """Return the threads' results in float64: a turn is a matrix, and many turns are its power."""
    turn = np.array([[1, TURN], [-TURN, 1 - TURN * TURN]])
    along_x, along_y = np.ones(2) @ np.linalg.matrix_power(turn, UNROLLED * trips)
    value = start.astype(np.float64)
    result: np.ndarray = along_x * (PAIRS * value + sum(range(PAIRS))) - along_y * PAIRS * value
    return result


TYPES = "float32[::1], float32[::1], float32[::1], uint32"
STEPS = (
    Step(
        "ffma_1_peak",
        "nothing but multiply-adds, many at once",
        run_1_peak,
        (Built(ffma_1_peak, TYPES, THREADS, BLOCKS_PER_SM, opcodes=("FFMA",), fma_share=0.95),),
    ),
)
