# expect: dot_columns: wrong result
# The sum is wide, and cut to 16 bits at the end although y has room for 32.
import numpy as np

from warpwise import cuda


@cuda.jit
def dot_columns(w, m, y):
    col = cuda.grid(1)
    if col < m.shape[1]:
        total = np.float32(0)
        for k in range(m.shape[0]):
            total += np.float32(w[k]) * np.float32(m[k, col])
        y[col] = np.float16(total)
