"""The launch asks for blocks of 2,048 threads."""

from numba import cuda


@cuda.jit
def negate(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = -x[i]


def launch(rng):  # expect: LaunchError 2,048
    return negate, 1, 2048, (rng.standard_normal(2000),)
