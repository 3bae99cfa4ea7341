"""A step of Jacobi's method with a tile and its edges in shared memory."""

import numpy as np
from numba import float64

from warpwise import cuda

rng = np.random.default_rng(3)

T = 16
T2 = T + 2


@cuda.jit
def jac(a, b):
    s = cuda.shared.array((T2, T2), float64)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x + 1
    ty = cuda.threadIdx.y + 1
    h, w = a.shape
    if x < w and y < h:
        s[ty, tx] = a[y, x]
        if tx == 1 and x > 0:
            s[ty, 0] = a[y, x - 1]
        if tx == T and x < w - 1:
            s[ty, T + 1] = a[y, x + 1]
        if ty == 1 and y > 0:
            s[0, tx] = a[y - 1, x]
        if ty == T and y < h - 1:
            s[T + 1, tx] = a[y + 1, x]
    cuda.syncthreads()
    if 0 < x < w - 1 and 0 < y < h - 1:
        b[y, x] = 0.25 * (s[ty, tx - 1] + s[ty, tx + 1] + s[ty - 1, tx] + s[ty + 1, tx])


def check():
    a = rng.random((40, 37))
    b = a.copy()
    jac[(3, 3), (T, T)](a, b)
    r = a.copy()
    r[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
    assert np.allclose(b, r)
