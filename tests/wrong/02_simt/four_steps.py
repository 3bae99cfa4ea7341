# expect: warp_sums: wrong result
# Begins at a distance of 8: the upper half of the warp never arrives.
import numpy as np

from warpwise import cuda


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    v = np.float32(0)
    if i < x.size:
        v = x[i]
    for d in (8, 4, 2, 1):
        v += cuda.shfl_down_sync(ALL, v, d)
    if cuda.laneid == 0 and i < x.size:
        out[i // 32] = v
