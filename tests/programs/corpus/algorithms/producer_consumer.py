"""A block waits for what another one writes, by a flag and fences."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(buf, flag, out):
    if cuda.blockIdx.x == 0:
        if cuda.threadIdx.x == 0:
            buf[0] = 42.0
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    else:
        if cuda.threadIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            out[0] = buf[0]


def check():
    b = np.zeros(1)
    f = np.zeros(1, np.int32)
    o = np.zeros(1)
    k[2, 32](b, f, o)
    assert o[0] == 42
