# expect: reverse: output not written
# One element for each thread, and there are more elements.
from warpwise import cuda


@cuda.jit
def reverse(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[x.size - 1 - i]
