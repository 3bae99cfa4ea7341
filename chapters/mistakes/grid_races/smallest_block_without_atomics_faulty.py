"""The first block with a hit is sought with a comparison and a store; two blocks may do both at
once."""

# scope: grid
import numpy as np
from numba import cuda


@cuda.jit
def first_block_with(x, wanted, found):
    hit = cuda.syncthreads_or(1 if x[cuda.grid(1)] == wanted else 0)
    if cuda.threadIdx.x == 0 and hit != 0:
        b = cuda.blockIdx.x
        if b < found[0]:  # expect: race
            found[0] = b  # expect: race


def launch(rng):
    x = rng.integers(0, 9, (8, 32))
    x[[3, 5], rng.integers(0, 32, 2)] = 42
    return first_block_with, 8, 32, (x.ravel(), 42, np.full(1, 8))
