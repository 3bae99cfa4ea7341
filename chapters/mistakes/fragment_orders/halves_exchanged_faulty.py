"""A word takes two numbers, and the second is packed into its lower half."""

import numpy as np

from warpwise import cuda
from warpwise.kernels.bfloat16 import pack_bfloat16
from warpwise.kernels.tensor_core import mma_bf16


@cuda.jit
def packed_product(a, b, out):
    lane = cuda.threadIdx.x
    g, q, zero = lane // 4, 2 * (lane % 4), np.float32(0)
    a0 = pack_bfloat16(a[g, q], a[g, q + 1])
    a1 = pack_bfloat16(a[g + 8, q], a[g + 8, q + 1])
    a2 = pack_bfloat16(a[g, q + 8], a[g, q + 9])
    a3 = pack_bfloat16(a[g + 8, q + 8], a[g + 8, q + 9])
    b0 = pack_bfloat16(b[q + 1, g], b[q, g])
    b1 = pack_bfloat16(b[q + 9, g], b[q + 8, g])
    c = mma_bf16(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)  # expect: fragment
    out[g, q], out[g, q + 1] = c[0], c[1]
    out[g + 8, q], out[g + 8, q + 1] = c[2], c[3]


def launch(rng):
    a, b = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((16, 16), (16, 8)))
    return packed_product, 1, 32, (a, b, np.zeros((16, 8), np.float32))
