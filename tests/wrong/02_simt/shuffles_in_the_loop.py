# expect: row_sums: lane missing from a warp's operation
# Shuffles at every trip, in which the lanes that have left the loop are missing.
import numpy as np

from warpwise import cuda


@cuda.jit
def row_sums(values, offsets, out):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row < out.size:
        total = np.float32(0)
        for k in range(offsets[row] + cuda.laneid, offsets[row + 1], 32):
            v = values[k]
            for d in (16, 8, 4, 2, 1):
                v += cuda.shfl_down_sync(ALL, v, d)
            total += v
        if cuda.laneid == 0:
            out[row] = total
