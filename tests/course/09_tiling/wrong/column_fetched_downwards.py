# expect: matmul_column: over budget: sectors_per_request_load
# Neighbouring lanes fetch elements of a that stand below each other; a column of padding hides it from the banks.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_column(a, b, c):
    tile_a = cuda.shared.array((32, 9), np.float32)
    tile_b = cuda.shared.array((8, 32), np.float32)
    sums = cuda.local.array(4, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x + x
    for i in range(4):
        sums[i] = 0
    for start in range(0, a.shape[1], 8):
        tile_a[x, y] = 0
        if top + x < a.shape[0] and start + y < a.shape[1]:
            tile_a[x, y] = a[top + x, start + y]
        tile_b[y, x] = 0
        if start + y < b.shape[0] and col < b.shape[1]:
            tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(8):
            of_b = tile_b[k, x]
            for i in range(4):
                sums[i] += tile_a[y + 8 * i, k] * of_b
        cuda.syncthreads()
    for i in range(4):
        if top + y + 8 * i < c.shape[0] and col < c.shape[1]:
            c[top + y + 8 * i, col] = sums[i]
