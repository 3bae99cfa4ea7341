"""Every warp scans its part in shared memory, and its lanes read what other lanes overwrite."""

# scope: warp
import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def warp_scan(x, out):
    s = cuda.shared.array(THREADS, np.int32)
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    s[t] = x[t]
    cuda.syncwarp()
    step = 1
    while step < 32:
        if lane >= step:
            s[t] += s[t - step]  # expect: race
        step *= 2
    out[t] = s[t]


def launch(rng):
    return (
        warp_scan,
        1,
        THREADS,
        (rng.integers(0, 99, THREADS).astype(np.int32), np.zeros(THREADS, np.int32)),
    )
