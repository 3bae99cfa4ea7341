"""The largest float, by compare-and-swap on its bits."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def k(bits, x):
    i = cuda.grid(1)
    if i < x.size:
        old = cuda.atomic.add(bits, 0, 0)
        while True:
            f = cuda.libdevice.int_as_float(old)
            new = cuda.libdevice.float_as_int(float32(max(f, x[i])))
            prev = cuda.atomic.cas(bits, 0, old, new)
            if prev == old:
                break
            old = prev


def check():
    x = rng.random(100, dtype=np.float32)
    b = np.zeros(1, np.int32)
    k[4, 32](b, x)
    assert b.view(np.float32)[0] == x.max()
