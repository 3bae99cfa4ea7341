# expect: planes: over budget: sectors_per_request_load
# Thread e stores float e of the planes: perfect stores, and loads four floats apart.
from warpwise import cuda


@cuda.jit
def planes(particles, out):
    e = cuda.grid(1)
    n = particles.shape[0]
    if e < 4 * n:
        out[e // n, e % n] = particles[e % n, e // n]
