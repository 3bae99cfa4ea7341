# expect: planes: out of bounds
# Right where 64 divides n, as in the first of the visible launches.
from warpwise import cuda


@cuda.jit
def planes(particles, out):
    e = cuda.grid(1)
    out[e % 4, e // 4] = particles[e // 4, e % 4]
