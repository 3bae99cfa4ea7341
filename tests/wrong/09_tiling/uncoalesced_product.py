# expect: matmul_coalesced: over budget: sectors_per_request_load
# The roles of the lecture's drawing: lanes stand below each other. Only launches whose blocks cover c either way would be right.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_coalesced(a, b, c):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = 8 * cuda.blockIdx.y + x % 8
    col = 32 * cuda.blockIdx.x + 4 * y + x // 8
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total
