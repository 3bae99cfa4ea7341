# expect: centre: over budget: global_load_requests
# The threads of the first row walk down their columns; all other rows of threads have nothing to do.
from warpwise import cuda


@cuda.jit
def centre(x, mean, out):
    col, row = cuda.grid(2)
    if row == 0 and col < x.shape[1]:
        for down in range(x.shape[0]):
            out[down, col] = x[down, col] - mean[col]
