"""Whether the recorded block stands for the others: by addresses, and by the work that it does."""

from __future__ import annotations

from math import isinf

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch import Estimate
from warpwise.stopwatch.sharing import (
    UNLIKE,
    by_addresses,
    doubts,
    far,
    most,
    typical_first,
    unlike,
    works,
)
from warpwise.stopwatch.traffic import uses_of
from warpwise.toolchain import missing
from warpwise.traces import Trace

LAUNCH_SECONDS = 2e-6

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


def of_triangle(**options) -> Trace:
    x, out = np.ones(32, np.float32), np.zeros(32 * 64, np.float32)
    return trace(triangle, 32, 64, x, out, sanitize=False, **options)


def test_a_block_that_does_less_than_the_others_is_doubted():
    made = of_triangle(record=(12,))
    assert -0.3 < unlike(made) < -UNLIKE and not far(made)
    assert doubts(made)[0].startswith("the recorded block does ")
    assert "less than an average one: a wide range" in doubts(made)[0]


def test_a_block_that_does_much_less_says_what_to_record():
    made = of_triangle()
    assert far(made) and unlike(made) < -0.5
    said = doubts(made)[0]
    assert "times as many warp instructions as block 0, which was recorded" in said
    assert "only a lower bound; record=(0, 16, 31)" in said


def test_of_several_recorded_blocks_the_one_most_like_an_average_one_comes_first():
    made = of_triangle(record=(0, 16, 31))
    assert list(works(made)) == [0, 16, 31] and far(made)
    first = typical_first(made)
    assert list(works(first)) == [16, 0, 31] and not far(first)
    assert sorted(first.records.line) == sorted(made.records.line)
    assert most(first) == pytest.approx(works(made)[31] / works(made)[16])
    assert any(note.startswith("a recorded block does ") for note in doubts(first))
    alike = trace(product, GRID, (SIDE, SIDE), 8, *(square(4 * SIDE) for _ in range(3)))
    assert typical_first(alike) is alike and most(alike) == 1


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_an_unlike_block_gives_a_lower_bound():
    """The range of a typical one, as wide as the blocks that were recorded differ, is above it."""
    x, out = np.ones(2048, np.float32), np.zeros(32 * 64, np.float32)

    @cuda.jit
    def causal(x, out):
        i = cuda.grid(1)
        total = np.float32(0)
        for k in range((cuda.blockIdx.x + 1) * 16):
            total += x[k] * total
        out[i] = total

    def timed(*record: int) -> Estimate:
        return trace(causal, 32, 64, x, out, record=record, sanitize=False).time("RTX A6000")

    longest = timed(31).seconds  # all blocks run at once
    least = timed(0)
    assert isinf(least.high) and least.doubtful and not least.hints and not least.rate
    assert LAUNCH_SECONDS < least.seconds == least.low < timed(16).low < longest
    assert str(least).startswith("at least ") and "not worked out" in least.text()
    several = timed(0, 16, 31)
    assert several.seconds == pytest.approx(timed(16).seconds, rel=0.01)
    assert several.low < longest < several.high


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_a_block_that_does_much_more_gives_what_counters_give():
    @cuda.jit
    def first_only(x, out):
        i = cuda.grid(1)
        total = np.float32(0)
        if cuda.blockIdx.x == 0:
            for k in range(500):
                total += x[k] * total
        out[i] = total

    x, out = np.ones(512, np.float32), np.zeros(2**18, np.float32)
    found = trace(first_only, 2**12, 64, x, out, sanitize=False).time("T4")
    assert isinf(found.high) and "block 0, which was recorded, runs " in found.notes[0]
    assert found.binds == "DRAM" and found.seconds == pytest.approx(2**20 / 320e9, rel=0.01)
