# expect: stereo: over budget: flops_fp32
# No branch, but every element goes through both filters and one result is thrown away.
from warpwise import cuda


@cuda.jit
def stereo(x, y, a, b):
    i = cuda.grid(1)
    if i < x.size:
        left = left_filter(x[i], a)
        right = right_filter(x[i], b)
        y[i] = left if i % 2 == 0 else right
