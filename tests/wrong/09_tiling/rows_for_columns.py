# expect: matmul_coalesced: output not written
# The grid's first number is taken for the row, so most of a wide c is never computed.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_coalesced(a, b, c):
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total
