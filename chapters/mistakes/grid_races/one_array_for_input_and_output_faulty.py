"""The launch passes one array as input and as output of a shift that is right for two."""

# scope: grid
from warpwise import cuda


@cuda.jit
def shift(x, out):
    i = cuda.grid(1)
    if i < out.size:
        value = x[(i + 16) % x.size]  # expect: race
        out[i] = value  # expect: race


def launch(rng):
    x = cuda.to_device(rng.standard_normal(64))
    return shift, 4, 16, (x, x)
