# expect: copy_matrix: over budget: sectors_per_request_load
# Right, but lanes walk down a column: threads are numbered along the grid, and the number runs over the rows first.
from warpwise import cuda


@cuda.jit
def copy_matrix(src, dst):
    rows, cols = src.shape
    x, y = cuda.grid(2)
    width, height = cuda.gridsize(2)
    for k in range(y * width + x, rows * cols, width * height):
        dst[k % rows, k // rows] = src[k % rows, k // rows]
