"""``run_unwatched``: the results of a trace, and its errors, without what it counts."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import LaunchError, OutOfBoundsError, StepLimitError
from warpwise.simt import run_unwatched


@cuda.jit
def shifted_sums(x, y):
    part = cuda.shared.array(64, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i]
    cuda.syncthreads()
    total = part[(t + 1) % 64] + cuda.shfl_down_sync(0xFFFFFFFF, part[t], 1)
    cuda.atomic.add(y, i % 100, total)


def test_the_results_are_those_of_a_trace():
    x = np.random.default_rng(0).random(256, dtype=np.float32)
    watched, unwatched = np.ones((2, 100), np.float32)
    trace(shifted_sums, 4, 64, x, watched)
    run_unwatched(shifted_sums, 4, 64, x, unwatched)
    assert np.array_equal(watched, unwatched) and not np.array_equal(unwatched, np.ones(100))


def test_its_errors_are_those_of_a_trace():
    x, y = np.zeros(256, np.float32), np.zeros(99, np.float32)
    with pytest.raises(OutOfBoundsError):
        run_unwatched(shifted_sums, 4, 64, x, y)
    with pytest.raises(LaunchError):
        run_unwatched(shifted_sums, 4, 2048, x, y)


@cuda.jit
def counts_down(x):
    n = 1000
    while n > 0:
        n -= 1
    x[0] = n


def test_steps_are_limited():
    with pytest.raises(StepLimitError):
        run_unwatched(counts_down, 1, 1, np.ones(1, np.int32), max_steps=500)
