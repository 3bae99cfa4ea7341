# expect: quantised_matmul: wrong result
# Every factor is scaled back before it is multiplied, so each step of the sum rounds.
import numpy as np

from warpwise import cuda


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.float32(0)
        for k in range(qa.shape[1]):
            total += np.float32(qa[row, k]) * sa[row] * (np.float32(qb[k, col]) * sb[col])
        out[row, col] = total
