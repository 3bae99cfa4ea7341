"""The kernel asserts that a row's probabilities add up to one, and one row's do not."""

import numpy as np
from numba import cuda


@cuda.jit
def entropy_terms(p, out):
    row = cuda.grid(1)
    if row < p.shape[0]:
        total = 0.0
        for k in range(p.shape[1]):
            total += p[row, k]
        assert abs(total - 1) < 1e-6, "a row does not add up to 1"  # expect: KernelAssertionError
        out[row] = p[row, 0] * (1 - p[row, 0])


def launch(rng):
    p = rng.integers(1, 9, (50, 4)).astype(np.float64)
    p[:40] /= p[:40].sum(axis=1, keepdims=True)
    return entropy_terms, 1, 64, (p, np.zeros(50))
