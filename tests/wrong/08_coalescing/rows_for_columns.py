# expect: copy_matrix: out of bounds
# x and y change places in the guard only, which a square matrix would not show.
from warpwise import cuda


@cuda.jit
def copy_matrix(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[1] and col < src.shape[0]:
        dst[row, col] = src[row, col]
