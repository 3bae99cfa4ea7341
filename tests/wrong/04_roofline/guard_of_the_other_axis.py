# expect: four_products: output not written
# The guard compares with the number of columns.
import numpy as np

from warpwise import cuda


@cuda.jit
def four_products(at, xs, out):
    i = cuda.grid(1)
    if i < min(at.shape[0], at.shape[1]):
        t0, t1, t2, t3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for j in range(at.shape[0]):
            element = at[j, i]
            t0 += element * xs[j, 0]
            t1 += element * xs[j, 1]
            t2 += element * xs[j, 2]
            t3 += element * xs[j, 3]
        out[0, i], out[1, i], out[2, i], out[3, i] = t0, t1, t2, t3
