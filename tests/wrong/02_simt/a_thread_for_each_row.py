# expect: row_sums: over budget: global_load_requests
# Right, but each row has one thread, and a warp goes on for its longest row.
import numpy as np

from warpwise import cuda


@cuda.jit
def row_sums(values, offsets, out):
    row = cuda.grid(1)
    if row < out.size:
        total = np.float32(0)
        for k in range(offsets[row], offsets[row + 1]):
            total += values[k]
        out[row] = total
