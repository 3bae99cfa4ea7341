"""What is above a threshold is moved together, with one atomic for a warp."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def compact(x, out, n, thr):
    i = cuda.grid(1)
    keep = i < x.size and x[i] > thr
    m = cuda.ballot_sync(0xFFFFFFFF, keep)
    lane = cuda.laneid
    base = 0
    if m:
        leader = cuda.ffs(m) - 1
        if lane == leader:
            base = cuda.atomic.add(n, 0, cuda.popc(m))
        base = cuda.shfl_sync(0xFFFFFFFF, base, leader)
    if keep:
        out[base + cuda.popc(m & cuda.lanemask_lt())] = x[i]


def check():
    x = rng.random(300)
    o = np.zeros(300)
    n = np.zeros(1, np.int32)
    compact[5, 64](x, o, n, 0.4)
    r = np.sort(x[x > 0.4])
    assert n[0] == r.size and (np.sort(o[: n[0]]) == r).all()
