"""A kernel is given a view of an array, on the host and on the device."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] *= 2


def check():
    d = cuda.to_device(np.arange(48.0).reshape(6, 8))
    k[(1, 1), (8, 8)](d[1:4, ::2])
    r = np.arange(48.0).reshape(6, 8)
    r[1:4, ::2] *= 2
    assert (d.copy_to_host() == r).all()
    a = np.arange(48.0).reshape(6, 8)
    k[(1, 1), (8, 8)](a[2:4])
    r = np.arange(48.0).reshape(6, 8)
    r[2:4] *= 2
    assert (a == r).all()
