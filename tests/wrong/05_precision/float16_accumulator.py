# expect: dot_columns: wrong result
# The kernel that the lab gives: products and sums are rounded to float16.
import numpy as np

from warpwise import cuda


@cuda.jit
def dot_columns(w, m, y):
    col = cuda.grid(1)
    if col < m.shape[1]:
        total = np.float16(0)
        for k in range(m.shape[0]):
            total += w[k] * m[k, col]
        y[col] = total
