# expect: transpose: over budget: sectors_per_request_store
# Right, but it writes columns: each lane's store is in a sector of its own.
from warpwise import cuda


@cuda.jit
def transpose(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[col, row] = src[row, col]
