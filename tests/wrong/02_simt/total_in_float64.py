# expect: row_sums: over budget: op_fp64
# A total that begins with 0.0 is float64, and so is every sum.
from warpwise import cuda


@cuda.jit
def row_sums(values, offsets, out):
    row = cuda.grid(1) // 32
    if row < out.size:
        total = 0.0
        for k in range(offsets[row] + cuda.laneid, offsets[row + 1], 32):
            total += values[k]
        for d in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(ALL, total, d)
        if cuda.laneid == 0:
            out[row] = total
