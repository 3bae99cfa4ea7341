"""A tile with its halo in shared memory, and weights in constant memory."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

R = 2
TILE = 16
HALO = TILE + 2 * R
F = np.arange(25, dtype=np.float32).reshape(5, 5)


@cuda.jit
def conv2d(N, P):
    Fc = cuda.const.array_like(F)
    N_s = cuda.shared.array((HALO, HALO), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    h, w = N.shape
    x0 = cuda.blockIdx.x * TILE - R
    y0 = cuda.blockIdx.y * TILE - R
    for dy in range(ty, TILE + 2 * R, TILE):
        for dx in range(tx, TILE + 2 * R, TILE):
            yy = y0 + dy
            xx = x0 + dx
            N_s[dy, dx] = (
                N[yy, xx] if (yy >= 0) and (yy < h) and (xx >= 0) and (xx < w) else float32(0.0)
            )
    cuda.syncthreads()
    x, y = cuda.grid(2)
    if x < w and y < h:
        acc = float32(0)
        for i in range(2 * R + 1):
            for j in range(2 * R + 1):
                acc += Fc[i, j] * N_s[ty + i, tx + j]
        P[y, x] = acc


def check():
    a = rng.integers(0, 5, (40, 35)).astype(np.float32)
    p = np.zeros_like(a)
    conv2d[(3, 3), (16, 16)](a, p)
    q = np.pad(a, 2)
    ref = sum(F[i, j] * q[i : i + 40, j : j + 35] for i in range(5) for j in range(5))
    assert (p == ref).all()
