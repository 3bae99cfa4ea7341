# expect: warp_sums: out of bounds
# Whole warps beyond the end write a sum, too.
import numpy as np

from warpwise import cuda


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    v = x[i] if i < x.size else np.float32(0)
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(ALL, v, d)
    if cuda.laneid == 0:
        out[i // 32] = v
