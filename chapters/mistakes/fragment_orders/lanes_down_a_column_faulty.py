"""Eight lanes, one after another, take the rows of A: lane 1 has row 1, and should have row 0."""

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import to_bfloat16
from warpwise.kernels.tensor_core import mma_bf16


@cuda.jit
def rows_by_rows(a, out):
    lane = cuda.threadIdx.x
    g, q = lane // 4, lane % 4
    row, word = lane % 8, lane // 8
    a0, a1 = a[row, word], a[row + 8, word]
    a2, a3 = a[row, word + 4], a[row + 8, word + 4]
    b0, b1, zero = a[g, q], a[g, q + 4], np.float32(0)
    c = mma_bf16(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)  # expect: fragment
    out[g, 2 * q], out[g, 2 * q + 1] = c[0], c[1]
    out[g + 8, 2 * q], out[g + 8, 2 * q + 1] = c[2], c[3]


def launch(rng):
    numbers = rng.integers(-9, 9, (16, 16)).astype(np.float32)
    words = to_bfloat16(numbers).view(np.uint32)
    return rows_by_rows, 1, 32, (words, np.zeros((16, 8), np.float32))
