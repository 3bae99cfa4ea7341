# expect: transpose: barrier missed
# Threads beyond the edge of the matrix never reach the barrier.
import numpy as np

from warpwise import cuda


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((32, 33), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
    if row < src.shape[0] and col < src.shape[1]:
        tile[y, x] = src[row, col]
        cuda.syncthreads()
    row, col = 32 * cuda.blockIdx.x + y, 32 * cuda.blockIdx.y + x
    if row < dst.shape[0] and col < dst.shape[1]:
        dst[row, col] = tile[x, y]
