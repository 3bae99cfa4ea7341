# expect: column_sums: does not end
# The loop variable stays where it is.
import numpy as np

from warpwise import cuda


@cuda.jit
def column_sums(a, out):
    col = 32 * cuda.blockIdx.x + cuda.threadIdx.x
    if cuda.threadIdx.y == 0 and col < a.shape[1]:
        total, row = np.float32(0), 0
        while row < a.shape[0]:
            total += a[row, col]
        out[col] = total
