"""Some threads return from a device function before its barrier; they have not ended, and do not
arrive."""

import numpy as np
from numba import cuda


@cuda.jit(device=True)
def publish(s, t, value):
    if t >= 8:
        return
    s[t] = value
    cuda.syncthreads()  # expect: BarrierError


@cuda.jit
def repeat_first_eight(x, out):
    s = cuda.shared.array(8, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    publish(s, t, x[i])
    out[i] = s[t % 8]


def launch(rng):
    x = rng.standard_normal(96).astype(np.float32)
    return repeat_first_eight, 2, 48, (x, np.zeros_like(x))
