# expect: polynomial: over budget: flops_fp64
# The total begins as a whole number, so the compiler makes float64 of it.
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        total = 0
        for j in range(c.size - 1, -1, -1):
            total = total * v + c[j]
        y[i] = total
