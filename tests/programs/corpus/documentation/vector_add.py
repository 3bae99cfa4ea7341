"""The first kernel of a manual, launched with forall and with a configuration."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def add(left, right, result):
    i = cuda.grid(1)
    if i < result.size:
        result[i] = left[i] + right[i]


def check():
    left, right = rng.random(10_000), rng.random(10_000)
    on_device = [cuda.to_device(left), cuda.to_device(right)]
    first, second = cuda.device_array_like(on_device[0]), cuda.device_array_like(left)
    add.forall(left.size)(*on_device, first)
    add[left.size // 256 + 1, 256](*on_device, second)
    for result in (first, second):
        assert (result.copy_to_host() == left + right).all()
