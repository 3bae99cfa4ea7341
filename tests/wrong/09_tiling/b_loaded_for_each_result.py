# expect: matmul_column: over budget: shared_load_requests
# The element of b stands inside the inner loop and is loaded four times.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_column(a, b, c):
    tile_a = cuda.shared.array((32, 8), np.float32)
    tile_b = cuda.shared.array((8, 32), np.float32)
    sums = cuda.local.array(4, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    first, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x + x
    i, k = (32 * y + x) // 8, (32 * y + x) % 8  # of the element of a to load
    for n in range(4):
        sums[n] = 0
    for start in range(0, a.shape[1], 8):
        tile_a[i, k] = 0
        if first + i < a.shape[0] and start + k < a.shape[1]:
            tile_a[i, k] = a[first + i, start + k]
        tile_b[y, x] = 0
        if start + y < b.shape[0] and col < b.shape[1]:
            tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for step in range(8):
            for n in range(4):
                sums[n] += tile_a[y + 8 * n, step] * tile_b[step, x]
        cuda.syncthreads()
    for n in range(4):
        row = first + y + 8 * n
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = sums[n]
