# expect: column_sums: output not written
# It adds to whatever the output held, instead of writing to it.
from warpwise import cuda


@cuda.jit
def column_sums(a, out):
    col = 32 * cuda.blockIdx.x + cuda.threadIdx.x
    if cuda.threadIdx.y == 0 and col < a.shape[1]:
        for row in range(a.shape[0]):
            out[col] += a[row, col]
