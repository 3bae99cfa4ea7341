"""A lock made of compare-and-swap and exchange, taken by one thread of each block."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def locked(mutex, data):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        data[0] += 1
        data[1] = data[0] * 2
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


@cuda.jit(device=True)
def lock(m):
    while cuda.atomic.compare_and_swap(m, 0, 1) != 0:
        pass
    cuda.threadfence()


@cuda.jit(device=True)
def unlock(m):
    cuda.threadfence()
    cuda.atomic.exch(m, 0, 0)


@cuda.jit
def maxlocked(x, m, out, where):
    if cuda.threadIdx.x == 0:
        i = cuda.blockIdx.x
        lock(m)
        if x[i] > out[0]:
            out[0] = x[i]
            where[0] = i
        unlock(m)


def check():
    d = np.zeros(2, np.int32)
    locked[20, 32](np.zeros(1, np.int32), d)
    assert (d == [20, 40]).all()
    x = rng.random(30)
    o = np.zeros(1)
    w = np.zeros(1, np.int32)
    maxlocked[30, 32](x, np.zeros(1, np.int32), o, w)
    assert o[0] == x.max() and w[0] == x.argmax()
