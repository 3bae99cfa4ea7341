"""Every block reads the carry of the block to its left in the same launch that writes it."""

# scope: grid
import numpy as np
from numba import cuda


@cuda.jit
def prefix_of_blocks(x, carry, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    start = b * cuda.blockDim.x
    if t == 0:
        total = 0
        for k in range(cuda.blockDim.x):
            total += x[start + k]
        carry[b] = total  # expect: race
    cuda.syncthreads()
    if t == 0:
        for left in range(b):
            out[b] += carry[left]  # expect: race


def launch(rng):
    return (
        prefix_of_blocks,
        5,
        32,
        (rng.integers(0, 99, 160), np.zeros(5, np.int64), np.zeros(5, np.int64)),
    )
