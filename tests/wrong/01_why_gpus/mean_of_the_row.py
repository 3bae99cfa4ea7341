# expect: centre: wrong result
# Takes the mean by the number of the row, where there is one.
from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[row, col] = x[row, col] - mean[row % mean.size]
