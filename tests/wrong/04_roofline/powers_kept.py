# expect: polynomial: over budget: flops_fp32
# One pass, but with a running power: three FLOP for each term.
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    if i < x.size:
        power, total = x[i], c[0]
        for j in range(1, c.size):
            total += c[j] * power
            power *= x[i]
        y[i] = total
