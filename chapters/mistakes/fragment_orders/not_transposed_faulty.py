"""B lies by rows in shared memory, and its fragment is loaded as if it lay by columns."""

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import to_bfloat16
from warpwise.kernels.tensor_core import ldmatrix_x4, mma_bf16

PITCH, WORDS = 8, 128  # of a row of 16 numbers, and of 16 rows


@cuda.jit
def tile_product(a, b, out):
    a_tile = cuda.shared.array(WORDS, np.uint32, alignment=16)
    b_tile = cuda.shared.array(WORDS, np.uint32, alignment=16)
    lane = cuda.threadIdx.x
    for i in range(lane, WORDS, 32):
        a_tile[i], b_tile[i] = a[i], b[i]
    cuda.syncwarp()
    row, half, zero = lane % 16, lane // 16, np.float32(0)
    a0, a1, a2, a3 = ldmatrix_x4(a_tile, row * PITCH + 4 * half)
    right = ldmatrix_x4(b_tile, row * PITCH + 4 * half)
    b0, b1 = right[0], right[1]
    c = mma_bf16(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)  # expect: fragment
    g, q = lane // 4, lane % 4
    out[g, 2 * q], out[g, 2 * q + 1] = c[0], c[1]
    out[g + 8, 2 * q], out[g + 8, 2 * q + 1] = c[2], c[3]


def launch(rng):
    numbers = rng.integers(-9, 9, (2, 256)).astype(np.float32)
    a, b = to_bfloat16(numbers).view(np.uint32)
    return tile_product, 1, 32, (a, b, np.zeros((16, 8), np.float32))
