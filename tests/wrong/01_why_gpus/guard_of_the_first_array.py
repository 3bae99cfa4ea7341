# expect: add: out of bounds
# The guard asks for a alone; where b is shorter, it has no such element.
from warpwise import cuda


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + b[i]
