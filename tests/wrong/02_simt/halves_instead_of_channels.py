# expect: stereo: wrong result
# The threads are dealt out anew, but the elements are not: the first half of the sound goes through the left filter.
from warpwise import cuda


@cuda.jit
def stereo(x, y, a, b):
    i = cuda.grid(1)
    if i < (x.size + 1) // 2:
        y[i] = left_filter(x[i], a)
    elif i < x.size:
        y[i] = right_filter(x[i], b)
