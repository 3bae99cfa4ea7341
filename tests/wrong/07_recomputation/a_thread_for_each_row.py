# expect: layernorm_backward: over budget: sectors_per_request_load
# Needs no shuffles, and the lanes of a warp are a whole row apart.
import numpy as np

from warpwise import cuda


@cuda.jit
def layernorm_backward(x, weight, dout, mean, rstd, dx):
    row = cuda.grid(1)
    cols = x.shape[1]
    if row < x.shape[0]:
        m, r = mean[row], rstd[row]
        mean_g, mean_gn = np.float32(0), np.float32(0)
        for col in range(cols):
            g = dout[row, col] * weight[col]
            mean_g += g / np.float32(cols)
            mean_gn += g * ((x[row, col] - m) * r) / np.float32(cols)
        for col in range(cols):
            g = dout[row, col] * weight[col]
            dx[row, col] = r * (g - mean_g - (x[row, col] - m) * r * mean_gn)
