# expect: column_sums: wrong result
# Fills the output with NaN, which a comparison by differences could let through.
import math

from warpwise import cuda


@cuda.jit
def column_sums(a, out):
    i = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    if i < out.size and cuda.threadIdx.y == 0:
        out[i] = math.inf - math.inf
