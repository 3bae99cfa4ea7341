# expect: matmul_coalesced: over budget: flops_fp64
# A bare 0.0 makes the sum a float64.
from warpwise import cuda


@cuda.jit
def matmul_coalesced(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total
