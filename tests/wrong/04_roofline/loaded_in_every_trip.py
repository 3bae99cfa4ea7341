# expect: polynomial: over budget: global_bytes_moved
# Horner's rule, with x[i] loaded again for every term.
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = c[c.size - 1]
        for j in range(c.size - 2, -1, -1):
            total = total * x[i] + c[j]
        y[i] = total
