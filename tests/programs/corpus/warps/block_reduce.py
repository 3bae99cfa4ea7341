"""A sum by shuffles, then through shared memory, then by an atomic."""

import numpy as np
from numba import float32

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit(device=True)
def warp_sum(v):
    offset = cuda.warpsize // 2
    while offset > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, offset)
        offset //= 2
    return v


@cuda.jit
def block_sum(x, out):
    part = cuda.shared.array(32, float32)
    lane = cuda.threadIdx.x & 31
    wid = cuda.threadIdx.x >> 5
    s = float32(0)
    i = cuda.grid(1)
    while i < x.size:
        s += x[i]
        i += cuda.gridsize(1)
    s = warp_sum(s)
    if lane == 0:
        part[wid] = s
    cuda.syncthreads()
    s = part[lane] if cuda.threadIdx.x < cuda.blockDim.x // 32 else float32(0)
    if wid == 0:
        s = warp_sum(s)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, s)


def check():
    x = rng.integers(0, 9, 5000).astype(np.float32)
    o = np.zeros(1, np.float32)
    block_sum[4, 256](x, o)
    assert o[0] == x.sum()
