# expect: add: over budget: global_load_requests
# The loop of the CPU, on one thread; the others have nothing to do.
from warpwise import cuda


@cuda.jit
def add(a, b, out):
    if cuda.grid(1) == 0:
        for i in range(out.size):
            out[i] = a[i] + b[i]
