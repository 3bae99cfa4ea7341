# expect: adamw_step: wrong result
# This is Adam with a penalty: the decay goes into the gradient, and so into both means.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def adamw_step(p, g, m, v, rate, beta1, beta2, c1, c2, eps, decay):
    i = cuda.grid(1)
    if i < p.size:
        old = p[i]
        slope = g[i] + decay * old
        first = beta1 * m[i] + (np.float32(1) - beta1) * slope
        second = beta2 * v[i] + (np.float32(1) - beta2) * slope * slope
        step = (first / c1) / (math.sqrt(second / c2) + eps)
        p[i] = old - rate * step
        m[i] = first
        v[i] = second
