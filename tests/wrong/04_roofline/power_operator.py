# expect: polynomial: over budget: op_fp32
# One pass with v ** j: few FLOP by the counter, for ** is none, and many instructions.
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        total = c[0]
        for j in range(1, c.size):
            total += c[j] * v**j
        y[i] = total
