"""Step 1: a warp makes one tile, with fragments straight from global memory."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import pack_bfloat16
from warpwise.kernels.hgemm.tiles import QUAD, TYPES, WORD
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import column_pair, halves_of, mma_bf16


@cuda.jit
def hgemm_1_mma(a, b, c, n, k):
    """A warp makes 16 x 8 of c, with fragments loaded from global memory as they are."""
    g, q = np.uint32(cuda.laneid // 4), np.uint32(cuda.laneid % 4)
    k_words, n_words = k // WORD, n // WORD
    row, column = np.uint32(cuda.blockIdx.y * 16 + g), np.uint32(cuda.blockIdx.x * 8)
    a_at = np.uint32(row * k_words + q)
    b_at = np.uint32(WORD * q * n_words + (column + g) // WORD)
    halves = halves_of(column + g)
    c0 = c1 = c2 = c3 = np.float32(0)
    for _ in range(k // np.uint32(16)):
        a0, a1 = a[a_at], a[a_at + np.uint32(8) * k_words]
        a2, a3 = a[a_at + QUAD], a[a_at + np.uint32(8) * k_words + QUAD]
        b0 = column_pair(b, b_at, n_words, halves)
        b1 = column_pair(b, b_at + np.uint32(8) * n_words, n_words, halves)
        c0, c1, c2, c3 = mma_bf16(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)
        a_at += np.uint32(8)
        b_at += np.uint32(16) * n_words
    at = np.uint32(row * n_words + column // WORD + q)
    c[at] = pack_bfloat16(c0, c1)
    c[at + np.uint32(8) * n_words] = pack_bfloat16(c2, c3)


def run_1_mma(n: int, k: int, a: Array, b: Array, c: Array) -> None:
    hgemm_1_mma[(n // 8, 2 * c.size // n // 16), 32](a, b, c, np.uint32(n), np.uint32(k))


STEPS = (
    Step(
        "hgemm_1_mma",
        "tensor cores, one warp for a tile",
        run_1_mma,
        (Built(hgemm_1_mma, TYPES, 32, 16, ("HMMA.16816.F32.BF16",)),),
    ),
)
