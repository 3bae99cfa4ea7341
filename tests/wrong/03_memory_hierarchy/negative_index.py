# expect: neighbour_sums: out of bounds
# Checks the right end only; the first block reads before the beginning of x.
import numpy as np

from warpwise import cuda


@cuda.jit
def neighbour_sums(x, out):
    window = cuda.shared.array(WINDOW, np.float32)
    t = cuda.threadIdx.x
    first = BLOCK * cuda.blockIdx.x - RADIUS
    for k in range(t, WINDOW, BLOCK):
        j = first + k
        value = np.float32(0)
        if j < x.size:
            value = x[j]
        window[k] = value
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for k in range(2 * RADIUS + 1):
            total += window[t + k]
        out[i] = total
