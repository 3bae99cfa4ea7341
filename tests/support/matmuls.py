"""Matrix products: one naive and two in tiles; the tests of the tiles widget trace them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import float32

from warpwise import cuda, trace
from warpwise.metrics import Metrics


@cuda.jit
def matmul_naive(a, b, c, n):
    col, row = cuda.grid(2)
    if row < n and col < n:
        total = np.float32(0)
        for k in range(n):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def in_tiles_of_16(a, b, c):
    """Without guards: every side is a multiple of 16."""
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], 16):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, col] = total


def tiled(size: int):
    """Return the kernel for one size of tile."""

    @cuda.jit
    def matmul_tiled(a, b, c, n):
        tile_a = cuda.shared.array((size, size), float32)
        tile_b = cuda.shared.array((size, size), float32)
        col, row = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = np.float32(0)
        for start in range(0, n, size):
            tile_a[ty, tx] = 0
            tile_b[ty, tx] = 0
            if row < n and start + tx < n:
                tile_a[ty, tx] = a[row, start + tx]
            if start + ty < n and col < n:
                tile_b[ty, tx] = b[start + ty, col]
            cuda.syncthreads()
            for k in range(size):
                total += tile_a[ty, k] * tile_b[k, tx]
            cuda.syncthreads()
        if row < n and col < n:
            c[row, col] = total

    return matmul_tiled


@dataclass(frozen=True)
class Counted:
    """Counts of a product: of the launch, and of the line that fetches A's tiles.

    A naive kernel has no such line: None."""

    launch: Metrics
    of_a: Metrics | None


@cache
def product(n: int, tile: int, wider: bool, naive: bool = False) -> Counted:
    """Trace a product of n x n matrices in blocks of ``tile`` x ``tile``.

    With ``wider``, A has a column that nobody reads."""
    random = np.random.default_rng(n)
    a, b = random.random((n, n + wider), dtype=np.float32), random.random((n, n), dtype=np.float32)
    c = np.zeros((n, n), np.float32)
    kernel = matmul_naive if naive else tiled(tile)
    side = -(-n // tile)
    t = trace(kernel, (side, side), (tile, tile), a, b, c, n, record=())
    assert np.allclose(c, a[:, :n] @ b, rtol=1e-4)
    return Counted(
        t.metrics,
        None if naive else next(m for line, m in t.by_line.items() if "= a[row" in source(line)),
    )


@cache
def source(line: int) -> str:
    return inspect.getsource(inspect.getmodule(product)).splitlines()[line - 1]
