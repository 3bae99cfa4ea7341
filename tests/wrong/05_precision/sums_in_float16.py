# expect: quantised_matmul: wrong result
# Sums of products of 8-bit numbers soon leave the range of float16.
import numpy as np

from warpwise import cuda


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.float16(0)
        for k in range(qa.shape[1]):
            total += np.float16(qa[row, k]) * np.float16(qb[k, col])
        out[row, col] = np.float32(total) * sa[row] * sb[col]
