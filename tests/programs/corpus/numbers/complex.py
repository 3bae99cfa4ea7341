"""A Fourier transform by its definition, and cmath."""

import cmath
import math

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def dft(x, X):
    k = cuda.grid(1)
    N = x.size
    if k < N:
        s = 0j
        for n in range(N):
            a = -2 * math.pi * k * n / N
            s += x[n] * complex(math.cos(a), math.sin(a))
        X[k] = s


@cuda.jit
def cx(x, o):
    i = cuda.grid(1)
    if i < x.size:
        o[i] = cmath.exp(x[i]) * x[i].conjugate() + abs(x[i])


def check():
    x = rng.random(20) + 1j * rng.random(20)
    X = np.zeros_like(x)
    dft[1, 32](x, X)
    assert np.allclose(X, np.fft.fft(x))
    o = np.zeros_like(x)
    cx[1, 32](x, o)
    assert np.allclose(o, np.exp(x) * x.conj() + abs(x))
