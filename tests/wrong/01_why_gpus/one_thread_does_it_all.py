# expect: reverse: over budget: global_load_requests
# Right, and as slow as a loop on one slow thread.
from warpwise import cuda


@cuda.jit
def reverse(x, out):
    if cuda.grid(1) == 0:
        for i in range(x.size):
            out[i] = x[x.size - 1 - i]
