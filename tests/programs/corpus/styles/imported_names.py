"""Functions and types by the names under which they were imported."""

from math import floor, pi, sqrt

import numba as nb
import numpy as np
from numba import types

from warpwise import cuda


@cuda.jit
def k(o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = sqrt(nb.float32(i)) + pi * types.float64(1) + floor(2.7)


def check():
    o = np.zeros(10)
    k[1, 32](o)
    assert np.allclose(o, np.sqrt(np.arange(10, dtype=np.float32)) + np.pi + 2)
