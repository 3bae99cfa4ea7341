# expect: polynomial: over budget: global_bytes_moved
# The total lives in y, and is loaded and stored for every term.
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = c[c.size - 1]
        for j in range(c.size - 2, -1, -1):
            y[i] = y[i] * v + c[j]
