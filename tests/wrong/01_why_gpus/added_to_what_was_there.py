# expect: add: output not written
# out holds no zeros before the launch.
from warpwise import cuda


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += a[i] + b[i]
