# expect: matmul_tiled: race
# The barrier after the products is missing: a fast warp overwrites tiles that a slow one still reads.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((16, 16), np.float32)
    tile_b = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], 16):
        tile_a[y, x] = 0
        if row < a.shape[0] and start + x < a.shape[1]:
            tile_a[y, x] = a[row, start + x]
        tile_b[y, x] = 0
        if start + y < b.shape[0] and col < b.shape[1]:
            tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[y, k] * tile_b[k, x]
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
