"""Walks have all the work that the counts explain, though slow paths lead out of their loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch import clock
from warpwise.toolchain import missing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason="no compiler"),
]


@cuda.jit
def by_rows(x, w, y):
    """A square root that is exact calls a function now and then, which is not in the loop."""
    row = cuda.grid(1)
    total = 0.0
    for c in range(x.shape[1]):
        total += w[c] * math.sqrt(x[row, c])
    y[row] = total


@cuda.jit
def by_tiles(x, w, y):
    """Two loops in a loop, one of them with a root in float64."""
    tile = cuda.shared.array((32, 32), np.float32)
    t, first = cuda.threadIdx.x, 32 * cuda.blockIdx.x
    total = 0.0
    for start in range(0, x.shape[1], 32):
        for r in range(32):
            tile[r, t] = x[first + r, start + t]
        cuda.syncthreads()
        for c in range(32):
            total += w[start + c] * (tile[t, c] ** 0.5)
        cuda.syncthreads()
    y[first + t] = total


@pytest.mark.parametrize("kernel", [by_rows, by_tiles], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("cc", [(8, 6), (9, 0)])
def test_a_walk_takes_each_way_as_often_as_the_counts_say(kernel, cc):
    x = np.random.default_rng(0).random((64, 128), dtype=np.float32)
    traced = trace(kernel, 2, 32, x, np.ones(128, np.float32), np.zeros(64, np.float32))
    _, program = clock._explained(traced, clock._compiled(*traced.launched, cc), 1.0)
    for trips, order in zip(program.trips, program.orders, strict=True):
        taken = np.bincount(order, minlength=len(program.flow.blocks))
        planned = np.zeros_like(taken)
        for edge, count in zip(program.flow.edges, trips.edges, strict=True):
            if edge.end >= 0:
                planned[edge.end] += count
        assert taken.tolist() == planned.tolist()


def test_time_does_not_depend_on_how_a_root_is_written():
    """It was 65 times shorter when the loop was left out."""
    x = np.random.default_rng(0).random((64, 128), dtype=np.float32)
    args = x, np.ones(128, np.float32), np.zeros(64, np.float32)
    exact = trace(by_rows, 2, 32, *args)
    fast = trace(cuda.jit(fastmath=True)(by_rows.py_func), 2, 32, *args)
    times = [one.time("H100 SXM", grid=(4096,)).seconds for one in (exact, fast)]
    assert times[0] == pytest.approx(times[1], rel=0.25)
