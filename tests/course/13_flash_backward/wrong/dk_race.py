# expect: dk_dv: race
# A block for each tile of queries adds to dk and dv as if it were alone: blocks lose each other's parts.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def dk_dv(q, k, v, do, L, delta, scale, dk, dv):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    if y == 0:
        for c in range(x, WIDTH, TILE):
            for key in range(k.shape[0]):
                if cuda.blockIdx.x == 0:
                    dk[key, c] = np.float32(0)
                    dv[key, c] = np.float32(0)
    cuda.syncthreads()
    for query in range(TILE * cuda.blockIdx.x + y, q.shape[0], TILE * cuda.gridDim.x):
        for key in range(k.shape[0]):
            s = dp = np.float32(0)
            for c in range(WIDTH):
                s += q[query, c] * k[key, c]
                dp += do[query, c] * v[key, c]
            p = math.exp(scale * s - L[query])
            ds = p * (dp - delta[query])
            for c in range(x, WIDTH, TILE):
                dv[key, c] += p * do[query, c]
                dk[key, c] += scale * ds * q[query, c]
