# expect: warp_sums: over budget: global_load_requests
# Right, but lane 0 reads 32 elements while the others wait.
from warpwise import cuda


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    if cuda.laneid == 0 and i < x.size:
        total = x[i]
        for k in range(i + 1, min(i + 32, x.size)):
            total += x[k]
        out[i // 32] = total
