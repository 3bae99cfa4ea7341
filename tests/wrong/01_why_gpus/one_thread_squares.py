# expect: square: over budget: global_load_requests
# The loop of the CPU, on one thread; the others have nothing to do.
from warpwise import cuda


@cuda.jit
def square(x, out):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            out[i] = x[i] * x[i]
