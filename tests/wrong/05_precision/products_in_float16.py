# expect: dot_columns: wrong result
# The sum is wide, but each product was rounded to float16 before it was added.
import numpy as np

from warpwise import cuda


@cuda.jit
def dot_columns(w, m, y):
    col = cuda.grid(1)
    if col < m.shape[1]:
        total = np.float32(0)
        for k in range(m.shape[0]):
            total += np.float32(w[k] * m[k, col])
        y[col] = total
