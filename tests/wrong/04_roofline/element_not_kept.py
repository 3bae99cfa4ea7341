# expect: four_products: over budget: global_bytes_moved
# The loops are in the right order, and the element is loaded anew for each product.
import numpy as np

from warpwise import cuda


@cuda.jit
def four_products(at, xs, out):
    i = cuda.grid(1)
    if i < at.shape[1]:
        t0, t1, t2, t3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for j in range(at.shape[0]):
            t0 += at[j, i] * xs[j, 0]
            t1 += at[j, i] * xs[j, 1]
            t2 += at[j, i] * xs[j, 2]
            t3 += at[j, i] * xs[j, 3]
        out[0, i], out[1, i], out[2, i], out[3, i] = t0, t1, t2, t3
