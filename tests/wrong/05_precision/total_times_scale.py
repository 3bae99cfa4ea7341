# expect: quantised_matmul: over budget: op_fp64
# An integer times a float32 is computed in float64.
import numpy as np

from warpwise import cuda


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = np.int32(0)
        for k in range(qa.shape[1]):
            total += np.int32(qa[row, k]) * np.int32(qb[k, col])
        out[row, col] = total * sa[row] * sb[col]
