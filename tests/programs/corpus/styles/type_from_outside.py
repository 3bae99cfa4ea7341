"""The type and the size of a shared array come from the function around the kernel."""

import numba
import numpy as np

from warpwise import cuda


def make(dt, shape):
    @cuda.jit
    def kern(x, y):
        s = cuda.shared.array(shape, dt)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        y[t] = s[shape - 1 - t]

    return kern


def check():
    for dt in (np.float32, numba.int64, np.dtype("float64"), np.complex64, numba.float32):
        x = np.arange(32).astype(np.complex64 if dt is np.complex64 else np.float32)
        y = np.zeros_like(x)
        make(dt, 32)[1, 32](x, y)
        assert (y == x[::-1]).all(), dt
