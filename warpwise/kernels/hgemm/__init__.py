"""The product of two bfloat16 matrices on tensor cores, summed in float32: c = a b.

The matrices are flat arrays of uint32, row by row, with two neighbours of a row in each: ``a`` is m
x k, ``b`` is k x n, ``c`` is m x n, in bfloat16 too. ``tensor_core`` defines the numbers of each
lane. Sizes are multiples of TILE, which suits every step.
"""

from __future__ import annotations

from warpwise.kernels.hgemm import async_tiles, shared_tiles, single_warp, wide_tiles

TILE = (128, 256, 64)  # m, n, k
STEPS = (*single_warp.STEPS, *shared_tiles.STEPS, *async_tiles.STEPS, *wide_tiles.STEPS)
