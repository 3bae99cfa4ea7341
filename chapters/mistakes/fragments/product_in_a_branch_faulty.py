"""Lanes whose row is beyond the matrix leave the product out, which is the whole warp's."""

import numpy as np
from numba import cuda

from warpwise.kernels.tensor_core import mma_tf32

ROWS = 12


@cuda.jit
def doubled(x, out):
    lane = cuda.threadIdx.x
    row, column = lane // 4, lane % 4
    zero, two = np.float32(0), np.float32(2)
    b0 = two if row == column else zero
    b1 = two if row == column + 4 else zero
    a0, a1, a2, a3 = x[row, column], zero, x[row, column + 4], zero
    c = (zero, zero, zero, zero)
    if row + 8 < ROWS:
        a1, a3 = x[row + 8, column], x[row + 8, column + 4]
        c = mma_tf32(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)  # expect: WarpMaskError
    out[row, 2 * column], out[row, 2 * column + 1] = c[0], c[1]
    if row + 8 < ROWS:
        out[row + 8, 2 * column] = c[2]
        out[row + 8, 2 * column + 1] = c[3]


def launch(rng):
    x = rng.integers(-9, 9, (ROWS, 8)).astype(np.float32)
    return doubled, 1, 32, (x, np.zeros((ROWS, 8), np.float32))
