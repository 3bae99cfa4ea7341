# expect: layernorm_backward: over budget: sectors_per_request_load
# Each lane takes columns that follow each other, so lanes next to each other read far apart.
import numpy as np

from warpwise import cuda

ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_sum(value):
    distance = 16
    while distance > 0:
        value += cuda.shfl_xor_sync(ALL, value, distance)
        distance //= 2
    return value


@cuda.jit
def layernorm_backward(x, weight, dout, mean, rstd, dx):
    row = 4 * cuda.blockIdx.x + cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x % 32
    cols = x.shape[1]
    share = (cols + 31) // 32
    first, last = lane * share, min(cols, lane * share + share)
    if row < x.shape[0]:
        m, r = mean[row], rstd[row]
        sum_g, sum_gn = np.float32(0), np.float32(0)
        for col in range(first, last):
            g = dout[row, col] * weight[col]
            sum_g += g
            sum_gn += g * ((x[row, col] - m) * r)
        mean_g = warp_sum(sum_g) / np.float32(cols)
        mean_gn = warp_sum(sum_gn) / np.float32(cols)
        for col in range(first, last):
            g = dout[row, col] * weight[col]
            dx[row, col] = r * (g - mean_g - (x[row, col] - m) * r * mean_gn)
