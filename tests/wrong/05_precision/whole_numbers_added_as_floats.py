# expect: quantised_matmul: over budget: flops_fp32
# Exact for so short a sum, but every product and every sum is a float32: nothing is done in integers.
import numpy as np

from warpwise import cuda


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.float32(0)
        for k in range(qa.shape[1]):
            total += np.float32(qa[row, k]) * np.float32(qb[k, col])
        out[row, col] = total * sa[row] * sb[col]
