# expect: row_sums: over budget: global_load_sectors
# Right, but each lane adds a stretch of its own, so that neighbouring lanes read far apart.
import numpy as np

from warpwise import cuda


@cuda.jit
def row_sums(values, offsets, out):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row < out.size:
        first, last = offsets[row], offsets[row + 1]
        each = (last - first + 31) // 32
        begin = first + each * cuda.laneid
        total = np.float32(0)
        for k in range(begin, min(begin + each, last)):
            total += values[k]
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, d)
        if cuda.laneid == 0:
            out[row] = total
