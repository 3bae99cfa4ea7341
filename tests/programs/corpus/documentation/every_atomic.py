"""Each of the atomics once."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(i32, f64, u32):
    t = cuda.grid(1)
    cuda.atomic.add(i32, 0, t)
    cuda.atomic.sub(i32, 1, 1)
    cuda.atomic.min(i32, 2, t)
    cuda.atomic.max(i32, 3, t)
    cuda.atomic.and_(i32, 4, ~(1 << (t % 8)))
    cuda.atomic.or_(i32, 5, 1 << (t % 8))
    cuda.atomic.xor(i32, 6, t)
    cuda.atomic.add(f64, 0, 0.5)
    cuda.atomic.min(f64, 1, t * 0.5)
    cuda.atomic.nanmax(f64, 2, t)
    cuda.atomic.inc(u32, 0, 9)
    cuda.atomic.dec(u32, 1, 9)


def check():
    i = np.array([0, 100, 50, -1, 0xFFFF, 0, 0], np.int32)
    f = np.array([0, 9, np.nan])
    u = np.array([0, 9], np.uint32)
    k[2, 32](i, f, u)
    assert list(i) == [2016, 36, 0, 63, 0xFF00, 255, 0], i
    assert list(f) == [32, 0, 63] and list(u) == [4, 5], (f, u)
