"""Arrays in Fortran order, transposed and with steps, forwards and backwards."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def k(a, o):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        o[i, j] = a[i, j] * 2


def check():
    a = np.asfortranarray(rng.random((20, 30)))
    o = np.zeros((20, 30))
    k[(2, 2), (16, 16)](a, o)
    assert (o == 2 * a).all()
    d = cuda.to_device(a)
    k[(2, 2), (16, 16)](d[::2, ::-1], o[:10])
    assert (o[:10] == 2 * a[::2, ::-1]).all()
    k[(2, 2), (16, 16)](a.T, o.T)
    assert (o == 2 * a).all()
