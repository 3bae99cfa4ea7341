# expect: neighbour_sums: over budget: global_load_requests
# The direct kernel, right, but every element is fetched nine times.
import numpy as np

from warpwise import cuda


@cuda.jit
def neighbour_sums(x, out):
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for j in range(max(0, i - RADIUS), min(x.size, i + RADIUS + 1)):
            total += x[j]
        out[i] = total
