# expect: matmul_rectangular: unwritten read
# One element of b for each thread, where its tile has twice as many.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_rectangular(a, b, c):
    tile_a = cuda.shared.array((8, 16), np.float32)
    tile_b = cuda.shared.array((16, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    t = 32 * y + x
    row_a = 8 * cuda.blockIdx.y + t // 16
    total = np.float32(0)
    for start in range(0, a.shape[1], 16):
        if t < 128:
            tile_a[t // 16, t % 16] = 0
            if row_a < a.shape[0] and start + t % 16 < a.shape[1]:
                tile_a[t // 16, t % 16] = a[row_a, start + t % 16]
        tile_b[y, x] = 0
        if start + y < b.shape[0] and col < b.shape[1]:
            tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
