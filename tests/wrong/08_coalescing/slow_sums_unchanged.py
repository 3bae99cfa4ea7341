# expect: column_sums: over budget: sectors_per_request_load
# The given kernel under a new name: its lanes walk down a column.
import numpy as np

from warpwise import cuda


@cuda.jit
def column_sums(a, out):
    partial = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col = 32 * cuda.blockIdx.x + y
    total = np.float32(0)
    if col < a.shape[1]:
        for row in range(x, a.shape[0], 32):
            total += a[row, col]
    partial[y, x] = total
    cuda.syncthreads()
    if x == 0 and col < a.shape[1]:
        for k in range(1, 32):
            total += partial[y, k]
        out[col] = total
