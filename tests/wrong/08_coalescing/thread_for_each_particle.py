# expect: planes: over budget: sectors_per_request_load
# The slow kernel under a new name: a thread for each particle, so the loads are four floats apart.
from warpwise import cuda


@cuda.jit
def planes(particles, out):
    i = cuda.grid(1)
    if i < particles.shape[0]:
        for k in range(4):
            out[k, i] = particles[i, k]
