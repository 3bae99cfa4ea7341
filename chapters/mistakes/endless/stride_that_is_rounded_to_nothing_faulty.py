"""The stride is a number of elements divided by a number of threads, and for few elements it is
0."""

import numpy as np
from numba import cuda


@cuda.jit
def every_stride(x, out):
    stride = x.size // cuda.blockDim.x
    k, total = 0, 0
    while k < x.size:  # expect: StepLimitError
        total += x[k]
        k += stride
    out[cuda.threadIdx.x] = total


def launch(rng):
    return (
        every_stride,
        1,
        64,
        (rng.integers(0, 99, 40), np.zeros(64, np.int64)),
        {"max_steps": 5000},
    )
