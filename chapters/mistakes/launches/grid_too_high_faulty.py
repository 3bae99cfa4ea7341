"""One row of blocks for each row of a tall picture: a grid has at most 65,535 along y."""

import numpy as np
from numba import cuda


@cuda.jit
def row_is_even(rows):
    row = cuda.blockIdx.y
    if cuda.threadIdx.x == 0:
        rows[row] = row % 2 == 0


def launch(rng):  # expect: LaunchError 65535
    rows = np.zeros(66_000, np.bool_)
    return row_is_even, (1, rows.size), 32, (rows,)
