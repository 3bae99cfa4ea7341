# expect: warp_sums: over budget: op_fp64
# Begins with 0 and goes on with float32: a type that holds both is float64.
from warpwise import cuda


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    v = 0
    if i < x.size:
        v = x[i]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(ALL, v, d)
    if cuda.laneid == 0 and i < x.size:
        out[i // 32] = v
