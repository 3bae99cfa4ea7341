# expect: stereo: out of bounds
# All threads that are not in the left half take an element, also those beyond the end.
from warpwise import cuda


@cuda.jit
def stereo(x, y, a, b):
    i = cuda.grid(1)
    lefts = (x.size + 1) // 2
    if i < lefts:
        y[2 * i] = left_filter(x[2 * i], a)
    else:
        k = 2 * (i - lefts) + 1
        y[k] = right_filter(x[k], b)
