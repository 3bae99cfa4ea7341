# expect: adamw_step: wrong result
# The step is taken before the means are updated.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def adamw_step(p, g, m, v, rate, beta1, beta2, c1, c2, eps, decay):
    i = cuda.grid(1)
    if i < p.size:
        old, slope = p[i], g[i]
        before, spread = m[i], v[i]
        first = beta1 * before + (np.float32(1) - beta1) * slope
        second = beta2 * spread + (np.float32(1) - beta2) * slope * slope
        step = (before / c1) / (math.sqrt(spread / c2) + eps)
        p[i] = old - rate * (step + decay * old)
        m[i] = first
        v[i] = second
