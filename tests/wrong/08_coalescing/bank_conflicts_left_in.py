# expect: transpose: over budget: shared_bank_conflicts
# The rows of the tile are 32 words long, so each of its columns lies in one bank.
import numpy as np

from warpwise import cuda


@cuda.jit
def transpose(src, dst):
    tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
    if row < src.shape[0] and col < src.shape[1]:
        tile[y, x] = src[row, col]
    cuda.syncthreads()
    row, col = 32 * cuda.blockIdx.x + y, 32 * cuda.blockIdx.y + x
    if row < dst.shape[0] and col < dst.shape[1]:
        dst[row, col] = tile[x, y]
