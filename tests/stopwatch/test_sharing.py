"""Whether the recorded block stands for the others: by addresses, and by the work that it does."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch.sharing import by_addresses, doubts, unlike
from warpwise.stopwatch.traffic import uses_of

SIDE, GRID = 32, (4, 4)


@cuda.jit
def product(k, a, b, c):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for i in range(k):
        total += a[row, i] * b[i, col]
    c[row, col] = total


@cuda.jit
def skewed(x, out):
    """Blocks of one diagonal read the same."""
    col, row = cuda.grid(2)
    at = (cuda.blockIdx.x + cuda.blockIdx.y) % 4
    out[row, col] = x[at * SIDE + cuda.threadIdx.y, cuda.threadIdx.x]


@cuda.jit
def triangle(x, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(cuda.blockIdx.x + 1):
        total += x[k]
    out[i] = total


def square(side: int) -> np.ndarray:
    return np.zeros((side, side), np.float32)


def test_addresses_of_recorded_blocks_say_who_shares():
    a, b, c = (square(4 * SIDE) for _ in range(3))
    made = trace(
        product, GRID, (SIDE, SIDE), 4 * SIDE, a, b, c, record=(0, 1, 4, 5), sanitize=False
    )
    assert by_addresses(made) == {"a": ("row",), "b": ("column",), "c": ("none",)}
    assert doubts(made) == ()


def test_one_recorded_block_says_nothing_of_sharing():
    made = trace(product, GRID, (SIDE, SIDE), 8, *(square(4 * SIDE) for _ in range(3)))
    assert by_addresses(made) == {} and unlike(made) == pytest.approx(0)


def test_addresses_overrule_what_sizes_seem_to_say():
    """Every block reads the first rows of a large array, as if each read a part of its own."""
    x, out = np.zeros(16 * SIDE * SIDE, np.float32), square(4 * SIDE)

    @cuda.jit
    def same(x, out):
        col, row = cuda.grid(2)
        out[row, col] = x[cuda.threadIdx.y * SIDE + cuda.threadIdx.x]

    one, four = (
        trace(same, GRID, (SIDE, SIDE), x, out, record=record) for record in ((0,), (0, 1, 4, 5))
    )
    assert uses_of(one, (*GRID, 1))["x"].shared_by == "none"
    assert uses_of(four, (*GRID, 1))["x"].shared_by == "all"


def test_sharing_along_a_diagonal_is_doubted():
    made = trace(skewed, GRID, (SIDE, SIDE), np.zeros((4 * SIDE, SIDE), np.float32),
                 square(4 * SIDE), record=(0, 1, 4, 5), sanitize=False)  # fmt: skip
    assert by_addresses(made)["x"] == ()
    assert doubts(made) == ("blocks share x neither by rows nor by columns: a wide range",)


def test_a_block_that_does_less_than_the_others_is_doubted():
    made = trace(triangle, 16, 64, np.ones(16, np.float32), np.zeros(16 * 64, np.float32))
    assert unlike(made) < -0.5
    assert "less than an average one: a wide range" in doubts(made)[0]
