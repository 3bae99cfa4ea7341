# expect: transpose: unwritten read
# The second guard is missing a turn: it still speaks of src, so lanes read parts of the tile that nobody filled.
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
    if row < src.shape[0] and col < src.shape[1]:
        value = tile[x, y]
        dst[32 * cuda.blockIdx.x + y, 32 * cuda.blockIdx.y + x] = value
