# expect: clamp: over budget: branches
# Right, with a branch for each limit.
from warpwise import cuda


@cuda.jit
def clamp(x, y, low, high):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] < low:
            y[i] = low
        elif x[i] > high:
            y[i] = high
        else:
            y[i] = x[i]
