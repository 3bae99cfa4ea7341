# expect: column_sums: race
# The partial sums are added before all warps have stored theirs.
import numpy as np

from warpwise import cuda


@cuda.jit
def column_sums(a, out):
    partial = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col = 32 * cuda.blockIdx.x + x
    total = np.float32(0)
    if col < a.shape[1]:
        for row in range(y, a.shape[0], 32):
            total += a[row, col]
    partial[y, x] = total
    if y == 0 and col < a.shape[1]:
        for k in range(1, 32):
            total += partial[k, x]
        out[col] = total
