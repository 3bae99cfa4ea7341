# expect: clamp: over budget: op_fp64
# Three weights of 0.0 or 1.0, one of them 1.0: no branch, but these literals are float64, and so is all that meets them.
from warpwise import cuda


@cuda.jit
def clamp(x, y, low, high):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        below = 1.0 if v < low else 0.0
        above = 1.0 if v > high else 0.0
        y[i] = below * low + above * high + (1.0 - below - above) * v
