# expect: warp_sums: lane missing from a warp's operation
# The threads beyond the end are missing from the shuffles.
from warpwise import cuda


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for d in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(ALL, v, d)
        if cuda.laneid == 0:
            out[i // 32] = v
