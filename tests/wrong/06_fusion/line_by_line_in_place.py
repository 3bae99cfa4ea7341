# expect: adamw_step: over budget: global_load_bytes
# Each line of the formula changes memory: nine loads where four are needed.
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def adamw_step(p, g, m, v, rate, beta1, beta2, c1, c2, eps, decay):
    i = cuda.grid(1)
    if i < p.size:
        m[i] = beta1 * m[i] + (np.float32(1) - beta1) * g[i]
        v[i] = beta2 * v[i] + (np.float32(1) - beta2) * g[i] * g[i]
        p[i] -= rate * ((m[i] / c1) / (math.sqrt(v[i] / c2) + eps) + decay * p[i])
