# expect: planes: race
# The floats change hands in shared memory, and nobody waits for them.
import numpy as np

from warpwise import cuda


@cuda.jit
def planes(particles, out):
    tile = cuda.shared.array(256, np.float32)
    t, e = cuda.threadIdx.x, cuda.grid(1)
    if e < particles.size:
        tile[t] = particles[e // 4, e % 4]
    i = 64 * cuda.blockIdx.x + t % 64
    if i < particles.shape[0]:
        out[t // 64, i] = tile[4 * (t % 64) + t // 64]
