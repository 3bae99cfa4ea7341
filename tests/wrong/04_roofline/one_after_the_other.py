# expect: four_products: over budget: global_bytes_moved
# The four launches as a loop: each reads the matrix again.
import numpy as np

from warpwise import cuda


@cuda.jit
def four_products(at, xs, out):
    i = cuda.grid(1)
    if i < at.shape[1]:
        for which in range(4):
            total = np.float32(0)
            for j in range(at.shape[0]):
                total += at[j, i] * xs[j, which]
            out[which, i] = total
