# expect: matmul_double: over budget: barriers
# Two pairs of tiles, and still a barrier on either side of the products.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_double(a, b, c):
    tile_a = cuda.shared.array((2, 16, 16), np.float32)
    tile_b = cuda.shared.array((2, 16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = np.float32(0)
    pairs = (a.shape[1] + 15) // 16
    for s in range(pairs + 1):
        if s < pairs:
            tile_a[s % 2, y, x] = 0
            if row < a.shape[0] and 16 * s + x < a.shape[1]:
                tile_a[s % 2, y, x] = a[row, 16 * s + x]
            tile_b[s % 2, y, x] = 0
            if 16 * s + y < b.shape[0] and col < b.shape[1]:
                tile_b[s % 2, y, x] = b[16 * s + y, col]
        if s > 0:
            for k in range(16):
                total += tile_a[(s - 1) % 2, y, k] * tile_b[(s - 1) % 2, k, x]
            cuda.syncthreads()
        if s < pairs:
            cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
