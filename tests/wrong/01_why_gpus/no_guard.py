# expect: square: out of bounds
# The threads left over in the last block work too.
from warpwise import cuda


@cuda.jit
def square(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * x[i]
