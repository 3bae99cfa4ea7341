"""The launch asks for 256 KB of dynamic shared memory: bytes were multiplied by the size of an
element twice."""

import numpy as np
from numba import cuda

COUNT = 8192


@cuda.jit
def reverse(x, out):
    s = cuda.shared.array(0, np.float32)
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        s[i] = x[i]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        out[i] = s[x.size - 1 - i]


def launch(rng):  # expect: LaunchError shared memory
    x = rng.standard_normal(COUNT).astype(np.float32)
    return reverse, 1, 256, (x, np.zeros_like(x)), {"shared_bytes": x.nbytes * 8}
