"""Kernels for Numba's own cuda, by several names, in the simulator."""

import numba
import numba as nb
import numba.cuda
import numpy as np
from numba.cuda import grid, jit, syncthreads

from warpwise import trace


@jit
def k(x):
    me = numba.cuda.threadIdx.x
    s = nb.cuda.shared.array(32, nb.float32)
    s[me] = x[grid(1)]
    syncthreads()
    x[grid(1)] = s[31 - me]


@numba.cuda.jit
def k2(x):
    x[numba.cuda.grid(1)] += 1


@nb.cuda.jit
def k3(x):
    i = nb.cuda.blockIdx.x * nb.cuda.blockDim.x + nb.cuda.threadIdx.x
    x[i] += 1


def check():
    x = np.arange(32, dtype=np.float32)
    trace(k, 1, 32, x)
    trace(k2, 1, 32, x)
    trace(k3, 1, 32, x)
    assert (x == np.arange(32)[::-1] + 2).all()
