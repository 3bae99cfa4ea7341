# expect: reverse: out of bounds
# Element n - 0 does not exist.
from warpwise import cuda


@cuda.jit
def reverse(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[x.size - i]
