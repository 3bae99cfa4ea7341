"""A block of 128 threads along z: that axis ends at 64."""

from numba import cuda


@cuda.jit
def add(a, b):
    i = cuda.threadIdx.z
    b[i] += a[i]


def launch(rng):  # expect: LaunchError 64
    return add, 1, (1, 1, 128), (rng.integers(0, 9, 128), rng.integers(0, 9, 128))
