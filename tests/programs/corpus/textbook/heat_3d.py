"""Heat in a volume, with chained comparisons and long sums."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def heat3(u, v, c):
    i, j, k = cuda.grid(3)
    nx, ny, nz = u.shape
    if 0 < i < nx - 1 and 0 < j < ny - 1 and 0 < k < nz - 1:
        v[i, j, k] = u[i, j, k] + c * (
            u[i + 1, j, k] + u[i - 1, j, k]
            + u[i, j + 1, k] + u[i, j - 1, k]
            + u[i, j, k + 1] + u[i, j, k - 1]
            - 6 * u[i, j, k]
        )


def check():
    u = rng.random((9, 10, 11))
    v = np.zeros_like(u)
    heat3[(3, 3, 3), (4, 4, 4)](u, v, 0.1)
    w = u[1:-1, 1:-1, 1:-1]
    assert np.allclose(
        v[1:-1, 1:-1, 1:-1],
        w
        + 0.1
        * (
            u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
            - 6 * w
        ),
    )
