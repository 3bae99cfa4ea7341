# expect: planes: output not written
# The guard counts particles, and the threads are one for each float.
from warpwise import cuda


@cuda.jit
def planes(particles, out):
    e = cuda.grid(1)
    if e < particles.shape[0]:
        out[e % 4, e // 4] = particles[e // 4, e % 4]
