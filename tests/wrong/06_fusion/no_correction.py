# expect: adamw_step: wrong result
# The means are used as they are, too small in the first steps.
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
        step = first / (math.sqrt(second) + eps)
        p[i] = old - rate * (step + decay * old)
        m[i] = first
        v[i] = second
