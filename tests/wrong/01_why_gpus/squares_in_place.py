# expect: square: input changed
# The input serves as a scratch pad.
from warpwise import cuda


@cuda.jit
def square(x, out):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * x[i]
        out[i] = x[i]
