"""Register a1 is eight rows on, and a2 four columns on, as the instruction takes them."""

import numpy as np

from warpwise import cuda
from warpwise.kernels.tensor_core import mma_tf32


@cuda.jit
def tile_product(a, b, out):
    lane = cuda.threadIdx.x
    g, q = lane // 4, lane % 4
    zero = np.float32(0)
    a0, a1 = a[g, q], a[g + 8, q]
    a2, a3 = a[g, q + 4], a[g + 8, q + 4]
    b0, b1 = b[q, g], b[q + 4, g]
    c = mma_tf32(a0, a1, a2, a3, b0, b1, zero, zero, zero, zero)
    out[g, 2 * q], out[g, 2 * q + 1] = c[0], c[1]
    out[g + 8, 2 * q], out[g + 8, 2 * q + 1] = c[2], c[3]


def launch(rng):
    a, b = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((16, 8), (8, 8)))
    return tile_product, 1, 32, (a, b, np.zeros((16, 8), np.float32))


def expected(a, b, out):
    return a @ b
