# expect: quantised_matmul: over budget: sectors_per_request_load
# Right, but threads are numbered along the grid, and the number runs over the rows first.
import numpy as np

from warpwise import cuda


@cuda.jit
def quantised_matmul(qa, sa, qb, sb, out):
    x, y = cuda.grid(2)
    width, height = cuda.gridsize(2)
    rows, cols = out.shape
    for e in range(y * width + x, rows * cols, width * height):
        row, col = e % rows, e // rows
        total = np.int32(0)
        for k in range(qa.shape[1]):
            total += np.int32(qa[row, k]) * np.int32(qb[k, col])
        out[row, col] = np.float32(total) * sa[row] * sb[col]
