# expect: histogram: over budget: global_atomic_requests
# Right, but every value travels to global memory.
from warpwise import cuda


@cuda.jit
def histogram(x, counts):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, x[i], 1)
