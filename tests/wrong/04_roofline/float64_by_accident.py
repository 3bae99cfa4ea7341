# expect: polynomial: over budget: flops_fp64
# 0.0 is float64, and makes float64 of the total.
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        total = 0.0
        for j in range(c.size - 1, -1, -1):
            total = total * v + c[j]
        y[i] = total
