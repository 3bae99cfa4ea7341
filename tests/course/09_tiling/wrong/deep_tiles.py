# expect: matmul_double: over budget: shared_bytes_per_block
# Fewer barriers by tiles four times as deep, which take four times the shared memory.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_double(a, b, c):
    tile_a = cuda.shared.array((16, 64), np.float32)
    tile_b = cuda.shared.array((64, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1], 64):
        for k in range(0, min(64, a.shape[1] - start), 16):
            tile_a[y, k + x] = 0
            if row < a.shape[0] and start + k + x < a.shape[1]:
                tile_a[y, k + x] = a[row, start + k + x]
            tile_b[k + y, x] = 0
            if start + k + y < b.shape[0] and col < b.shape[1]:
                tile_b[k + y, x] = b[start + k + y, col]
        cuda.syncthreads()
        for k in range(min(64, a.shape[1] - start)):
            total += tile_a[y, k] * tile_b[k, x]
        if start + 64 < a.shape[1]:
            cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
