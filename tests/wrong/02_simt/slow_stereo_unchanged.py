# expect: stereo: over budget: divergent_branches
# The given kernel under a new name: neighbouring lanes disagree.
from warpwise import cuda


@cuda.jit
def stereo(x, y, a, b):
    i = cuda.grid(1)
    if i < x.size:
        if i % 2 == 0:
            y[i] = left_filter(x[i], a)
        else:
            y[i] = right_filter(x[i], b)
