"""A step of a bitonic sort compares pairs that the step before may not have written yet."""

# scope: warp, block
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def bitonic_sort(x):
    s = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    size = 2
    while size <= THREADS:
        step = size // 2
        while step > 0:
            other = t ^ step
            if t < other:
                a, b = s[t], s[other]  # expect: race
                if (a > b) == ((t & size) == 0):
                    s[t], s[other] = b, a  # expect: race
            step //= 2
        size *= 2
    cuda.syncthreads()
    x[t] = s[t]


def launch(rng):
    return bitonic_sort, 1, THREADS, (rng.permutation(THREADS).astype(np.float32),)
