# expect: centre: output not written
# The first number that cuda.grid(2) returns goes along a row: it is the column.
from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    row, col = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[row, col] = x[row, col] - mean[col]
