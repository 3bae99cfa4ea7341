"""Kernels with one planted bottleneck each, and what is left of them when it is mended.

The slow line of each says so. Both compute the same, or as much of the same kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise import cuda, trace
from warpwise.kernels.sgemm import simple
from warpwise.traces import Trace

SIDE, PADDED, STEPS, WIDTH, COLUMN = 32, 33, 16, 256, 64
TERMS, LARGE, SMALL, LONG = 64, 12 * 1024, 6 * 1024, 128


@cuda.jit
def columns_conflict(a, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    at = cuda.blockIdx.x * SIDE * SIDE + y * SIDE + x
    tile[y, x] = a[at]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(STEPS):
        total += tile[x, (y + k) % SIDE]  # slow
    out[at] = total


@cuda.jit
def columns_padded(a, out):
    tile = cuda.shared.array((SIDE, PADDED), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    at = cuda.blockIdx.x * SIDE * SIDE + y * SIDE + x
    tile[y, x] = a[at]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(STEPS):
        total += tile[x, (y + k) % SIDE]
    out[at] = total


@cuda.jit
def walk_apart(a, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(COLUMN):
        total += a[i * COLUMN + k]  # slow
    out[i] = total


@cuda.jit
def walk_together(a, out):
    i = cuda.grid(1)
    n = cuda.gridsize(1)
    total = np.float32(0)
    for k in range(COLUMN):
        total += a[k * n + i]
    out[i] = total


@cuda.jit
def store_apart(a, out):
    i = cuda.grid(1)
    x = a[i]
    for k in range(COLUMN):
        out[i * COLUMN + k] = x  # slow


@cuda.jit
def store_together(a, out):
    i = cuda.grid(1)
    n = cuda.gridsize(1)
    x = a[i]
    for k in range(COLUMN):
        out[k * n + i] = x


@cuda.jit
def doubles(a, out):
    i = cuda.grid(1)
    x = a[i]
    y = 1.0 * x
    for _ in range(TERMS):
        y = y * 0.5 + x  # slow
    out[i] = y


@cuda.jit
def floats(a, out):
    i = cuda.grid(1)
    x = a[i]
    y = x
    for _ in range(TERMS):
        y = y * np.float32(0.5) + x
    out[i] = y


@cuda.jit(fastmath=True)
def every_exp(a, out):
    i = cuda.grid(1)
    x = a[i]
    total = np.float32(0)
    for k in range(TERMS):
        total += math.exp(x * np.float32(k))  # slow
    out[i] = total


@cuda.jit(fastmath=True)
def every_second_exp(a, out):
    i = cuda.grid(1)
    x = a[i]
    total = np.float32(0)
    step = math.exp(x)
    for k in range(0, TERMS, 2):
        power = math.exp(x * np.float32(k))
        total += power + power * step
    out[i] = total


@cuda.jit
def large_scratch(a, out):
    scratch = cuda.shared.array(LARGE, np.float32)  # leaves room for two blocks
    i, t = cuda.grid(1), cuda.threadIdx.x
    total = np.float32(0)
    for k in range(STEPS):
        total = np.float32(
            total * np.float32(0.5) + a[int(total) + k * cuda.gridsize(1) + i]  # slow
        )
    scratch[t] = total
    out[i] = scratch[t]


@cuda.jit
def small_scratch(a, out):
    scratch = cuda.shared.array(SMALL, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    total = np.float32(0)
    for k in range(STEPS):
        total = np.float32(total * np.float32(0.5) + a[int(total) + k * cuda.gridsize(1) + i])
    scratch[t] = total
    out[i] = scratch[t]


@cuda.jit
def one_warp_works(a, out):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    x = a[i]
    y = x
    for _ in range(STEPS):
        if t < 32:
            for _ in range(LONG):
                y = y * x + x  # slow
        cuda.syncthreads()
    out[i] = y


@cuda.jit
def all_warps_work(a, out):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    x = a[i]
    y = x
    for _ in range(STEPS):
        if t < 256:
            for _ in range(LONG // 8):
                y = y * x + x
        cuda.syncthreads()
    out[i] = y


@cuda.jit
def lanes_part(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    x = a[i]
    y = x
    if t % 2 == 0:
        for _ in range(LONG):
            y = y * x + x  # slow
    else:
        for _ in range(LONG):
            y = y * x - x  # slow
    out[i] = y


@cuda.jit
def warps_part(a, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
    x = a[i]
    y = x
    if t < 128:
        for _ in range(LONG):
            y = y * x + x
    else:
        for _ in range(LONG):
            y = y * x - x
    out[i] = y


@cuda.jit
def one_result(a, b, out):
    of_a = cuda.shared.array((SIDE, SIDE), np.float32)
    of_b = cuda.shared.array((SIDE, SIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.blockIdx.x * SIDE + x, cuda.blockIdx.y * SIDE + y
    total = np.float32(0)
    for start in range(0, a.shape[1], SIDE):
        of_a[y, x] = a[row, start + x]
        of_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(SIDE):
            total += of_a[y, k] * of_b[k, x]  # slow
        cuda.syncthreads()
    out[row, col] = total


@cuda.jit
def four_results(a, b, out):
    of_a = cuda.shared.array((SIDE, SIDE), np.float32)
    of_b = cuda.shared.array((SIDE, SIDE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.blockIdx.x * SIDE + x, cuda.blockIdx.y * SIDE + y
    s00, s01, s10, s11 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for start in range(0, a.shape[1], SIDE):
        of_a[y, x] = a[row, start + x]
        of_a[y, x + 16] = a[row, start + x + 16]
        of_a[y + 16, x] = a[row + 16, start + x]
        of_a[y + 16, x + 16] = a[row + 16, start + x + 16]
        of_b[y, x] = b[start + y, col]
        of_b[y, x + 16] = b[start + y, col + 16]
        of_b[y + 16, x] = b[start + y + 16, col]
        of_b[y + 16, x + 16] = b[start + y + 16, col + 16]
        cuda.syncthreads()
        for k in range(SIDE):
            a0, a1, b0, b1 = of_a[y, k], of_a[y + 16, k], of_b[k, x], of_b[k, x + 16]
            s00 += a0 * b0
            s01 += a0 * b1
            s10 += a1 * b0
            s11 += a1 * b1
        cuda.syncthreads()
    out[row, col] = s00
    out[row, col + 16] = s01
    out[row + 16, col] = s10
    out[row + 16, col + 16] = s11


@dataclass(frozen=True)
class Planted:
    """A kernel and its mended twin, with launches of both."""

    slow: Any
    mended: Any
    binds: str
    hint: str  #: how the first hint begins
    arrays: tuple[tuple[int, ...], ...]
    grid: Any  #: that is asked about
    threads: Any = 256
    mended_threads: Any = None
    blocks: Any = 4
    slow_line: str = "# slow"
    sizes: tuple[np.uint32, ...] = ()  #: arguments before the arrays

    def traces(self) -> tuple[Trace, Trace]:
        """Return the traces of both."""
        return (
            self._trace(self.slow, self.threads),
            self._trace(self.mended, self.mended_threads or self.threads),
        )

    def _trace(self, kernel: Any, threads: Any) -> Trace:
        arrays = [np.zeros(shape, np.float32) for shape in self.arrays]
        return trace(kernel, self.blocks, threads, *self.sizes, *arrays, sanitize=False)


N = 4 * 256
PLANTED = {
    "conflicts": Planted(
        columns_conflict, columns_padded, "shared memory", "conflict-free loads",
        ((4096,), (4096,)), 8192, (32, 32),
    ),
    "column walk": Planted(
        walk_apart, walk_together, "L2", "coalesced loads", ((N * COLUMN,), (N,)), 4096,
    ),
    "scattered stores": Planted(
        store_apart, store_together, "L2", "coalesced stores", ((N,), (N * COLUMN,)), 4096,
    ),
    "float64": Planted(
        doubles, floats, "float64 arithmetic", "float32", ((N,), (N,)), 8192,
    ),
    "special functions": Planted(
        every_exp, every_second_exp, "special functions", "half as many", ((N,), (N,)), 8192,
    ),
    "occupancy": Planted(
        large_scratch, small_scratch, "latency", "so that 4 blocks fit",
        ((N * STEPS,), (N,)), 8192, 64,
    ),
    "slow warp": Planted(
        one_warp_works, all_warps_work, "latency", "the work", ((N,), (N,)), 8192,
    ),
    "reuse": Planted(
        simple.sgemm_2_coalesced, simple.sgemm_3_shared, "L1", "a copy in shared memory",
        ((128 * 128,),) * 3, (128, 128), (32, 32), blocks=(4, 4), sizes=(np.uint32(128),) * 3,
        slow_line="total += a[at_a]",
    ),
    "divergence": Planted(
        lanes_part, warps_part, "issue slots", "whole warps", ((N,), (N,)), 8192,
    ),
    "one result": Planted(
        one_result, four_results, "shared memory", "2 by 2",
        ((64, 64),) * 3, (64, 64), (32, 32), (16, 16), (2, 2),
    ),
}  # fmt: skip
