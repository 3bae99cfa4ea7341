# expect: copy_matrix: out of bounds
# The guard compares with <=, so the thread just beyond the edge works too.
from warpwise import cuda


@cuda.jit
def copy_matrix(src, dst):
    col, row = cuda.grid(2)
    if row <= src.shape[0] and col <= src.shape[1]:
        dst[row, col] = src[row, col]
