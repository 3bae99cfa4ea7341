"""Slices of arrays are given to device functions, which read and write them."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit(device=True)
def dot(u, v):
    s = 0.0
    for k in range(u.size):
        s += u[k] * v[k]
    return s


@cuda.jit(device=True)
def fill(a, v):
    for k in range(len(a)):
        a[k] = v


@cuda.jit
def mm(A, B, C, z):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = dot(A[i, :], B[:, j])
        if j == 0:
            fill(z[i, 1:-1], 7)
            fill(z[i][::3], 5)


def check():
    A = rng.random((9, 5))
    B = rng.random((5, 11))
    C = np.zeros((9, 11))
    z = np.zeros((9, 8))
    mm[(1, 1), (16, 16)](A, B, C, z)
    assert np.allclose(C, A @ B)
    r = np.zeros((9, 8))
    r[:, 1:-1] = 7
    r[:, ::3] = 5
    assert (z == r).all()
