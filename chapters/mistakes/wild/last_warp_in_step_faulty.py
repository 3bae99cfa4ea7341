"""The last steps of a sum are left to one warp without any barrier, as one did before Volta, when
the lanes of a warp went in step."""

# scope: warp
import numpy as np
from numba import cuda


@cuda.jit(device=True)
def sum_of_warp(s, t):
    for step in (16, 8, 4, 2, 1):
        s[t] += s[t + step]  # expect: race


@cuda.jit
def totals(x, out):
    s = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t < 32:
        s[t] += s[t + 32]  # expect: race
        sum_of_warp(s, t)
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def launch(rng):
    return totals, 2, 64, (rng.integers(0, 99, 128), np.zeros(2, np.int64))
