"""One thread adds up the sums of the warps before the other warps have stored theirs."""

# scope: block
import numpy as np
from numba import cuda

THREADS = 128
WARPS = THREADS // 32


@cuda.jit
def two_level_sum(x, out):
    values = cuda.shared.array(THREADS, np.float32)
    sums = cuda.shared.array(WARPS, np.float32)
    t = cuda.threadIdx.x
    values[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t % 32 == 0:
        total = np.float32(0)
        for k in range(32):
            total += values[t + k]
        sums[t // 32] = total  # expect: race
    if t == 0:
        for w in range(WARPS):
            out[cuda.blockIdx.x] += sums[w]  # expect: race


def launch(rng):
    return (
        two_level_sum,
        2,
        THREADS,
        (rng.integers(0, 99, 2 * THREADS).astype(np.float32), np.zeros(2, np.float32)),
    )
