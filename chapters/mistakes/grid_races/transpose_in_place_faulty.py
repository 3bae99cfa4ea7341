"""Both threads of a pair swap its elements, and so swap them twice or tear them."""

# scope: warp, block, grid
from numba import cuda


@cuda.jit
def transpose(a):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[0] and row != col:
        a[row, col], a[col, row] = a[col, row], a[row, col]  # expect: race


def launch(rng):
    return transpose, (2, 2), (8, 8), (rng.standard_normal((13, 13)),)
