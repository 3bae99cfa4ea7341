# expect: matmul_double: over budget: sectors_per_request_load
# Neighbouring lanes fetch elements of a that stand below each other; two columns of padding hide it from the banks.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_double(a, b, c):
    tile_a = cuda.shared.array((2, 16, 18), np.float32)
    tile_b = cuda.shared.array((2, 16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    of_lane = 16 * cuda.blockIdx.y + x
    total = np.float32(0)
    for s in range((a.shape[1] + 15) // 16):
        now = s % 2
        tile_a[now, x, y] = 0
        if of_lane < a.shape[0] and 16 * s + y < a.shape[1]:
            tile_a[now, x, y] = a[of_lane, 16 * s + y]
        tile_b[now, y, x] = 0
        if 16 * s + y < b.shape[0] and col < b.shape[1]:
            tile_b[now, y, x] = b[16 * s + y, col]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[now, y, k] * tile_b[now, k, x]
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
