# expect: copy_matrix: over budget: global_bytes_moved
# One lane of each warp copies for the other 31: one sector per request, and eight times the bytes.
from warpwise import cuda


@cuda.jit
def copy_matrix(src, dst):
    col, row = cuda.grid(2)
    if cuda.threadIdx.x == 0 and row < src.shape[0]:
        for k in range(col, min(col + 32, src.shape[1])):
            dst[row, k] = src[row, k]
