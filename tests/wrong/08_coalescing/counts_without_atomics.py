# expect: histogram: race
# Two threads load the same count, and one of their values is lost.
from warpwise import cuda


@cuda.jit
def histogram(x, counts):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        counts[x[i]] += 1
