# expect: warp_sums: race
# All lanes write to the warp's place, and they do not hold the same.
import numpy as np

from warpwise import cuda


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    v = np.float32(0)
    if i < x.size:
        v = x[i]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(ALL, v, d)
    if i < x.size:
        out[i // 32] = v
