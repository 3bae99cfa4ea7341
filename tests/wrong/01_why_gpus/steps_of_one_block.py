# expect: reverse: race
# Steps as long as a block: the blocks do each other's work again.
from warpwise import cuda


@cuda.jit
def reverse(x, out):
    for i in range(cuda.grid(1), x.size, cuda.blockDim.x):
        out[i] = x[x.size - 1 - i]
