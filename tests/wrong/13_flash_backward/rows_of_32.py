# expect: row_dots: wrong result
# Each lane takes one element: what lies beyond the 32nd is forgotten.
import numpy as np

from warpwise import cuda


@cuda.jit
def row_dots(do, o, delta):
    lane, row = cuda.threadIdx.x, 8 * cuda.blockIdx.x + cuda.threadIdx.y
    if row < do.shape[0]:
        total = np.float32(0)
        if lane < do.shape[1]:
            total = do[row, lane] * o[row, lane]
        for step in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, step)
        if lane == 0:
            delta[row] = total
