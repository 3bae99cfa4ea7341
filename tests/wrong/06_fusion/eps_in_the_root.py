# expect: adamw_step: wrong result
# The small number belongs behind the square root.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def adamw_step(p, g, m, v, rate, beta1, beta2, c1, c2, eps, decay):
    i = cuda.grid(1)
    if i < p.size:
        old, slope = p[i], g[i]
        first = beta1 * m[i] + (np.float32(1) - beta1) * slope
        second = beta2 * v[i] + (np.float32(1) - beta2) * slope * slope
        step = (first / c1) / math.sqrt(second / c2 + eps)
        p[i] = old - rate * (step + decay * old)
        m[i] = first
        v[i] = second
