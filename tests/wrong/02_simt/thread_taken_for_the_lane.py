# expect: row_sums: wrong result
# Begins at the thread's number in the block, which is its lane in the first warp only.
import numpy as np

from warpwise import cuda


@cuda.jit
def row_sums(values, offsets, out):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row < out.size:
        total = np.float32(0)
        for k in range(offsets[row] + cuda.threadIdx.x, offsets[row + 1], 32):
            total += values[k]
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, d)
        if cuda.laneid == 0:
            out[row] = total
