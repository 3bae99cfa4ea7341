# expect: transpose: output not written
# A case for each matrix of the visible check, and nothing for any other.
import numpy as np

from warpwise import cuda


@cuda.jit
def transpose(src, dst):
    rows, cols = src.shape
    if (rows == 64 and cols == 96) or (rows == 33 and cols == 50) or (rows == 70 and cols == 203) or (rows == 31 and cols == 30):
        tile = cuda.shared.array((32, 33), np.float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
        if row < rows and col < cols:
            tile[y, x] = src[row, col]
        cuda.syncthreads()
        row, col = 32 * cuda.blockIdx.x + y, 32 * cuda.blockIdx.y + x
        if row < cols and col < rows:
            dst[row, col] = tile[x, y]
