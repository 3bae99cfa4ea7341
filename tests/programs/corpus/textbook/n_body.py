"""Forces between bodies, a tile of them in shared memory at a time."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)

TPB = 32


@cuda.jit(fastmath=True)
def nbody(pos, acc, eps2):
    sh = cuda.shared.array((TPB, 4), float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    ax = ay = az = float32(0)
    px, py, pz = pos[i, 0], pos[i, 1], pos[i, 2]
    for tile in range(cuda.gridDim.x):
        for k in range(4):
            sh[t, k] = pos[tile * TPB + t, k]
        cuda.syncthreads()
        for j in range(TPB):
            dx = sh[j, 0] - px
            dy = sh[j, 1] - py
            dz = sh[j, 2] - pz
            inv = cuda.libdevice.rsqrtf(dx * dx + dy * dy + dz * dz + eps2)
            f = sh[j, 3] * inv * inv * inv
            ax += f * dx
            ay += f * dy
            az += f * dz
        cuda.syncthreads()
    acc[i, 0] = ax
    acc[i, 1] = ay
    acc[i, 2] = az


def check():
    p = rng.random((96, 4), dtype=np.float32)
    a = np.zeros((96, 3), np.float32)
    nbody[3, TPB](p, a, np.float32(0.01))
    d = p[None, :, :3] - p[:, None, :3]
    r = (d**2).sum(-1) + 0.01
    assert np.allclose(a, (p[None, :, 3:] * d / r[..., None] ** 1.5).sum(1), rtol=1e-3, atol=1e-3)
