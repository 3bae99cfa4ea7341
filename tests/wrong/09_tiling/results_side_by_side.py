# expect: matmul_patch: over budget: sectors_per_request_store
# Each thread owns 4 x 4 neighbours, so the lanes of a warp store four floats apart.
import numpy as np

from warpwise import cuda


@cuda.jit
def matmul_patch(a, b, c):
    tile_a = cuda.shared.array((32, 8), np.float32)
    tile_b = cuda.shared.array((8, 32), np.float32)
    sums = cuda.local.array((4, 4), np.float32)
    of_a = cuda.local.array(4, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    first_row, first_col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    for i in range(4):
        for j in range(4):
            sums[i, j] = 0
    for start in range(0, a.shape[1], 8):
        for e in range(8 * y + x, 256, cuda.blockDim.x * cuda.blockDim.y):
            row, k = first_row + e // 8, start + e % 8
            tile_a[e // 8, e % 8] = 0
            if row < a.shape[0] and k < a.shape[1]:
                tile_a[e // 8, e % 8] = a[row, k]
            k, col = start + e // 32, first_col + e % 32
            tile_b[e // 32, e % 32] = 0
            if k < b.shape[0] and col < b.shape[1]:
                tile_b[e // 32, e % 32] = b[k, col]
        cuda.syncthreads()
        for k in range(8):
            for i in range(4):
                of_a[i] = tile_a[4 * y + i, k]
            for j in range(4):
                of_b = tile_b[k, 4 * x + j]
                for i in range(4):
                    sums[i, j] += of_a[i] * of_b
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            row, col = first_row + 4 * y + i, first_col + 4 * x + j
            if row < c.shape[0] and col < c.shape[1]:
                c[row, col] = sums[i, j]
