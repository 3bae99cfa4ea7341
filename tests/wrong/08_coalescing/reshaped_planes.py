# expect: planes: wrong result
# It keeps the order of the floats: a reshape, as if (n, 4) and (4, n) differed in name only.
from warpwise import cuda


@cuda.jit
def planes(particles, out):
    e = cuda.grid(1)
    n = particles.shape[0]
    if e < particles.size:
        out[e // n, e % n] = particles[e // 4, e % 4]
