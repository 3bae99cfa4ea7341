"""Two generators of random numbers in wrapping integers, one against published values."""

import numpy as np
from numba import uint32, uint64

from warpwise import cuda


@cuda.jit
def lcg(seed, out, n):
    i = cuda.grid(1)
    s = uint32(seed + i)
    for _ in range(n):
        s = uint32(s * uint32(1664525) + uint32(1013904223))
    out[i] = s


@cuda.jit(device=True)
def mulhilo(a, b):
    p = uint64(a) * uint64(b)
    return uint32(p >> uint64(32)), uint32(p)


@cuda.jit
def philox(out, k0, k1):
    i = cuda.grid(1)
    c0 = uint32(i)
    c1 = uint32(0)
    c2 = uint32(0)
    c3 = uint32(0)
    k0 = uint32(k0)
    k1 = uint32(k1)
    for _ in range(10):
        h0, l0 = mulhilo(c0, uint32(0xD2511F53))
        h1, l1 = mulhilo(c2, uint32(0xCD9E8D57))
        c0, c1, c2, c3 = uint32(h1 ^ c1 ^ k0), l1, uint32(h0 ^ c3 ^ k1), l0
        k0 = uint32(k0 + uint32(0x9E3779B9))
        k1 = uint32(k1 + uint32(0xBB67AE85))
    out[i, 0] = c0
    out[i, 1] = c1
    out[i, 2] = c2
    out[i, 3] = c3


def check():
    o = np.zeros(32, np.uint32)
    lcg[1, 32](7, o, 10)
    s = (7 + np.arange(32)).astype(np.uint64)
    for _ in range(10):
        s = (s * 1664525 + 1013904223) % 2**32
    assert (o == s).all()
    o = np.zeros((32, 4), np.uint32)
    philox[1, 32](o, 0, 0)
    first = [hex(v) for v in o[0]]
    assert first == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"], first
