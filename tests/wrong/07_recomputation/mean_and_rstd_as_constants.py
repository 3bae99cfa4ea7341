# expect: layernorm_backward: wrong result
# As if mean and rstd did not depend on x: the two means are left out.
from warpwise import cuda


@cuda.jit
def layernorm_backward(x, weight, dout, mean, rstd, dx):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    if row < x.shape[0]:
        r = rstd[row]
        for col in range(cuda.threadIdx.x % 32, x.shape[1], 32):
            dx[row, col] = r * dout[row, col] * weight[col]
