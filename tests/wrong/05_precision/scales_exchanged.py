# expect: quantised_matmul: out of bounds
# The rows take the scales of the columns, which a square matrix with equal scales would not show.
import numpy as np

from warpwise import cuda


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.int32(0)
        for k in range(qa.shape[1]):
            total += np.int32(qa[row, k]) * np.int32(qb[k, col])
        out[row, col] = np.float32(total) * sa[col] * sb[row]
