# expect: matmul_tiled: over budget: global_load_requests
# Right, but each thread fetches all of its row and its column: the plain product.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_tiled(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total
