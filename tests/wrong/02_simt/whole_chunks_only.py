# expect: stereo: output not written
# Warps take turns on chunks of 64 elements, and the last chunk is left out if it is not whole.
from warpwise import cuda


@cuda.jit
def stereo(x, y, a, b):
    i = cuda.grid(1)
    chunk = i // 64 * 64
    if chunk + 64 <= x.size:
        k = chunk + 2 * (i % 32)
        if i // 32 % 2 == 0:
            y[k] = left_filter(x[k], a)
        else:
            y[k + 1] = right_filter(x[k + 1], b)
