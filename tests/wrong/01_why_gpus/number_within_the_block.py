# expect: square: race
# threadIdx.x is 0, 1, 2 and so on in every block, so all blocks work on the first elements.
from warpwise import cuda


@cuda.jit
def square(x, out):
    i = cuda.threadIdx.x
    if i < x.size:
        out[i] = x[i] * x[i]
