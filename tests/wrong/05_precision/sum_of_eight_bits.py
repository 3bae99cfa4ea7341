# expect: quantised_matmul: wrong result
# The total is an int8, and wraps around.
import numpy as np

from warpwise import cuda


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.int8(0)
        for k in range(qa.shape[1]):
            total = np.int8(total + qa[row, k] * qb[k, col])
        out[row, col] = np.float32(total) * sa[row] * sb[col]
