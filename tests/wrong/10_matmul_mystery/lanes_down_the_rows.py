# expect: pad_rows: over budget: sectors_per_request_load
# Right, but the lanes of a warp own elements below each other.
import numpy as np

from warpwise import cuda


@cuda.jit
def pad_rows(src, dst):
    t = cuda.threadIdx.x + 32 * cuda.threadIdx.y
    row = 8 * cuda.blockIdx.y + t % 8
    col = 32 * cuda.blockIdx.x + t // 8
    if row < dst.shape[0] and col < dst.shape[1]:
        if col < src.shape[1]:
            dst[row, col] = src[row, col]
        else:
            dst[row, col] = np.float32(0)
