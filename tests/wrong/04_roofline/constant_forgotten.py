# expect: polynomial: wrong result
# The loop ends before c[0].
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        total = c[c.size - 1]
        for j in range(c.size - 2, 0, -1):
            total = total * v + c[j]
        y[i] = total
