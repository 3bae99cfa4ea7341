# expect: dot_columns: over budget: op_fp64
# 0.0 starts a float64: exact enough, and in the slow unit.
import numpy as np

from warpwise import cuda


@cuda.jit
def dot_columns(w, m, y):
    col = cuda.grid(1)
    if col < m.shape[1]:
        total = 0.0
        for k in range(m.shape[0]):
            total += np.float64(w[k]) * np.float64(m[k, col])
        y[col] = total
