# expect: polynomial: out of bounds
# Right where 128 divides the number of elements, as in the first visible launch.
from warpwise import cuda


@cuda.jit
def polynomial(c, x, y):
    i = cuda.grid(1)
    v = x[i]
    total = c[c.size - 1]
    for j in range(c.size - 2, -1, -1):
        total = total * v + c[j]
    y[i] = total
