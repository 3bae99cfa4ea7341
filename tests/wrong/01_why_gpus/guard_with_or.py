# expect: centre: out of bounds
# A thread beyond one edge only passes the guard.
from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] or col < x.shape[1]:
        out[row, col] = x[row, col] - mean[col]
