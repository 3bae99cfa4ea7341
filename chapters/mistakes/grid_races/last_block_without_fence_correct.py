"""A fence before the count, and one after it: whoever sees the count sees the sums."""

import numpy as np
from numba import cuda


@cuda.jit
def mean(x, sums, done, out):
    if cuda.threadIdx.x == 0:
        start, total = cuda.blockIdx.x * cuda.blockDim.x, np.float32(0)
        for k in range(cuda.blockDim.x):
            total += x[start + k]
        sums[cuda.blockIdx.x] = total
        cuda.threadfence()
        if cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            total = np.float32(0)
            for b in range(cuda.gridDim.x):
                total += sums[b]
            out[0] = total / x.size


def launch(rng):
    x = rng.integers(0, 99, 256).astype(np.float32)
    return mean, 4, 64, (x, np.zeros(4, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32))


def expected(x, sums, done, out):
    return np.array([x.mean()], np.float32)
