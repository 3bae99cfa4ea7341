# expect: pad_rows: out of bounds
# Without the inner guard, a thread behind the row reads beyond it.
from warpwise import cuda


@cuda.jit
def pad_rows(src, dst):
    col, row = cuda.grid(2)
    if row < dst.shape[0] and col < dst.shape[1]:
        dst[row, col] = src[row, col]
