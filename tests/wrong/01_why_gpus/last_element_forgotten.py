# expect: square: output not written
# The guard takes the number of elements for the number of the last one.
from warpwise import cuda


@cuda.jit
def square(x, out):
    i = cuda.grid(1)
    if i < x.size - 1:
        out[i] = x[i] * x[i]
