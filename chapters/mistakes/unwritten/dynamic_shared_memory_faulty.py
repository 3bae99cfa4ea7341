"""Dynamic shared memory is taken to start at zero."""

import numpy as np
from numba import cuda


@cuda.jit
def shifted(x, lag, out):
    delayed = cuda.shared.array(0, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    delayed[t + lag] = x[i]
    cuda.syncthreads()
    out[i] = delayed[t]  # expect: UnwrittenReadError


def launch(rng):
    x = rng.standard_normal(128).astype(np.float32)
    return shifted, 2, 64, (x, 5, np.zeros_like(x)), {"shared_bytes": 4 * (64 + 5)}
