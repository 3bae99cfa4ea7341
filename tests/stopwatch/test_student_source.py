"""What hints say of a student's own kernel: its numbers, its rows and its block."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch.student_source import (
    COMBINED,
    NEIGHBOURS,
    SHARED_ROW,
    counts_with_range,
    in_float32,
    side_by_side,
    tile_width,
)
from warpwise.traces import Trace


@cuda.jit
def sums(a, out):
    row = cuda.grid(1)
    s = 0.0
    for j in range(a.shape[1]):
        s += a[row, j]  # here
    out[row] = s


@cuda.jit
def sums_by_while(a, out):
    row, j = cuda.grid(1), 0
    s = np.float32(0.0)
    while j < a.shape[1]:
        s += a[row, 0 + j]  # here
        j += 1
    out[row] = s


@cuda.jit
def scaled(a, out):
    row = cuda.grid(1)
    for j in range(a.shape[1]):
        out[row, j] = a[row, j] * math.exp(1e-3)  # here


@cuda.jit
def one_column(a, out):
    column = cuda.grid(1)
    s = np.float32(0)
    for j in range(a.shape[0]):
        s += a[j, column]  # here
    out[column] = s


@cuda.jit
def strided(a, out):
    row = cuda.blockIdx.x
    for j in range(cuda.threadIdx.x, a.shape[1], cuda.blockDim.x):
        out[row, j] = a[row, j]  # here


def traced(kernel, *block: int) -> tuple[Trace, list[int]]:
    a = np.ones((8, 8), np.float32)
    out = np.zeros_like(a) if kernel in (scaled, strided) else np.zeros(8, np.float32)
    made = trace(kernel, 1, block or 8, a, out, sanitize=False)
    return made, [line for line, text in made.source.items() if "# here" in text]


@pytest.mark.parametrize(
    ("kernel", "how"),
    [
        (sums, COMBINED),
        (sums_by_while, COMBINED),
        (scaled, SHARED_ROW),
        (one_column, NEIGHBOURS),
        (strided, NEIGHBOURS),
    ],
)
def test_threads_with_a_row_each_are_told_to_share_it(kernel, how: str):
    made, here = traced(kernel)
    assert side_by_side(made, here) == how
    assert side_by_side(made, ()) == NEIGHBOURS


def test_threads_of_two_dimensions_change_places_instead():
    assert side_by_side(*traced(sums, 8, 1)) == COMBINED
    a, out = np.ones((8, 8), np.float32), np.zeros(16, np.float32)
    made = trace(sums, 1, (4, 2), a, out, sanitize=False)
    here = [line for line, text in made.source.items() if "# here" in text]
    assert side_by_side(made, here) == NEIGHBOURS


def test_a_number_in_float64_is_the_student_s_own():
    made, here = traced(sums)
    above = made.place(here[0] - 2)
    assert in_float32(made, here) == f"write np.float32(0.0) for 0.0 on {above}"
    made, here = traced(scaled)
    assert in_float32(made, here) == "write np.float32(0.001) for 0.001"
    assert in_float32(traced(one_column)[0], ()) == "write np.float32(0.5) for 0.5"


def test_a_tile_is_as_wide_as_a_block_of_two_dimensions():
    a, out = np.ones((16, 16), np.float32), np.zeros(16, np.float32)
    assert tile_width(trace(one_column, 1, 16, a, out, sanitize=False)) == 32
    assert tile_width(trace(sums, 1, (16, 1), a, out, sanitize=False)) == 32
    assert tile_width(trace(strided, 1, (16, 2), a, np.zeros_like(a), sanitize=False)) == 16


def test_what_counts_in_64_bits():
    made, here = traced(sums)
    assert counts_with_range(made, here) and not counts_with_range(made, (min(made.source),))
