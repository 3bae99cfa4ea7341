# expect: copy_matrix: input changed
# The copy is right; then the source is cleared.
from warpwise import cuda


@cuda.jit
def copy_matrix(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[row, col] = src[row, col]
        src[row, col] = 0
