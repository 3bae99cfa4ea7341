# expect: clamp: out of bounds
# No branch at all, and no guard either.
from warpwise import cuda


@cuda.jit
def clamp(x, y, low, high):
    i = cuda.grid(1)
    y[i] = min(max(x[i], low), high)
