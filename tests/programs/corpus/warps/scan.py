"""A scan of a warp by shuffles, for four types."""

import numpy as np

from warpwise import cuda


@cuda.jit(device=True)
def wscan(v, lane):
    for k in range(5):
        d = 1 << k
        u = cuda.shfl_up_sync(-1, v, d)
        v = v + u if lane >= d else v
    return v


@cuda.jit
def scan(x, y):
    lane = cuda.laneid
    y[cuda.grid(1)] = wscan(x[cuda.grid(1)], lane)


def check():
    for t in (np.int32, np.int64, np.float64, np.float32):
        x = np.arange(64).astype(t)
        y = np.zeros(64, t)
        scan[1, 64](x, y)
        assert (y.reshape(2, 32) == x.reshape(2, 32).cumsum(1)).all()
