# expect: blend: over budget: op_fp64
# 1 - t is an int64 with a float32, which Numba computes in float64.
from warpwise import cuda


@cuda.jit
def blend(a, b, t, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = (1 - t) * a[i] + t * b[i]
