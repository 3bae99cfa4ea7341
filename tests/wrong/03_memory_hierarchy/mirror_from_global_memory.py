# expect: minus_mirror: over budget: global_load_requests
# Right, but each element is fetched twice.
from warpwise import cuda


@cuda.jit
def minus_mirror(x, out):
    t = cuda.threadIdx.x
    start = BLOCK * cuda.blockIdx.x
    size = min(BLOCK, x.size - start)
    if t < size:
        out[start + t] = x[start + t] - x[start + size - 1 - t]
