# expect: stereo: out of bounds
# Halves that are equal only where the length is even.
from warpwise import cuda


@cuda.jit
def stereo(x, y, a, b):
    i = cuda.grid(1)
    lefts = x.size // 2
    if i < lefts:
        y[2 * i] = left_filter(x[2 * i], a)
    elif i < x.size:
        k = 2 * (i - lefts) + 1
        y[k] = right_filter(x[k], b)
