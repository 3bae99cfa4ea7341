# expect: row_dots: over budget: sectors_per_request_load
# Each lane takes elements that lie next to each other, so its neighbours are far from it.
import numpy as np

from warpwise import cuda


@cuda.jit
def row_dots(do, o, delta):
    lane, row = cuda.threadIdx.x, 8 * cuda.blockIdx.x + cuda.threadIdx.y
    if row < do.shape[0]:
        total = np.float32(0)
        each = (do.shape[1] + 31) // 32
        for c in range(each * lane, min(each * (lane + 1), do.shape[1])):
            total += do[row, c] * o[row, c]
        for step in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, step)
        if lane == 0:
            delta[row] = total
