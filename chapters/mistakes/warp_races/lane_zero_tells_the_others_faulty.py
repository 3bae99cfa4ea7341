"""Lane 0 stores its warp's result and the other lanes read it with no syncwarp."""

# scope: warp
import numpy as np
from numba import cuda


@cuda.jit
def minus_minimum(x, out):
    least = cuda.shared.array(3, np.int64)
    t, warp = cuda.threadIdx.x, cuda.threadIdx.x // 32
    if t % 32 == 0:
        best = x[t]
        for k in range(1, 32):
            best = min(best, x[t + k])
        least[warp] = best  # expect: race
    out[t] = x[t] - least[warp]  # expect: race


def launch(rng):
    return minus_minimum, 1, 96, (rng.integers(-99, 99, 96), np.zeros(96, np.int64))
