# expect: fused_trig: wrong result
# Without the weights the sum is 1, whatever x is.
from warpwise import cuda


@cuda.jit
def fused_trig(x, a, b, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 1
