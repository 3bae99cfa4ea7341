"""A radix sort of one block, one bit with each launch."""

import numpy as np
from numba import uint32

from warpwise import cuda

rng = np.random.default_rng(3)

B = 64


@cuda.jit
def radix_pass(src, dst, bit, n):
    bits = cuda.shared.array(B, uint32)
    i = cuda.threadIdx.x
    key = uint32(0)
    b = uint32(0)
    if i < n:
        key = src[i]
        b = (key >> bit) & 1
    bits[i] = b
    cuda.syncthreads()
    off = 1
    while off < B:
        v = bits[i - off] if i >= off else uint32(0)
        cuda.syncthreads()
        bits[i] += v
        cuda.syncthreads()
        off *= 2
    ones_before = bits[i] - b
    total = bits[n - 1]
    if i < n:
        d = i - ones_before if b == 0 else n - total + ones_before
        dst[d] = key


def check():
    n = 50
    a = cuda.to_device(rng.integers(0, 1 << 10, n).astype(np.uint32))
    b = cuda.device_array(n, np.uint32)
    ref = np.sort(a.copy_to_host())
    for bit in range(10):
        radix_pass[1, B](a, b, bit, n)
        a, b = b, a
    assert (a.copy_to_host() == ref).all()
