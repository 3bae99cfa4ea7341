# expect: planes: unwritten read
# The last block reads the whole of its tile, which a ragged number of particles leaves unfilled.
import numpy as np

from warpwise import cuda


@cuda.jit
def planes(particles, out):
    tile = cuda.shared.array(256, np.float32)
    t, e = cuda.threadIdx.x, cuda.grid(1)
    if e < particles.size:
        tile[t] = particles[e // 4, e % 4]
    cuda.syncthreads()
    i = 64 * cuda.blockIdx.x + t % 64
    value = tile[4 * (t % 64) + t // 64]
    if i < particles.shape[0]:
        out[t // 64, i] = value
