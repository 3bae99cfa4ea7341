# expect: running_state: wrong result
# Minus infinity minus minus infinity, when the first elements are masked.
import math

import numpy as np


def running_state(row):
    ms, ds = np.empty(row.size), np.empty(row.size)
    m, d = -math.inf, 0.0
    for j, x in enumerate(row):
        new = max(m, x)
        d = d * math.exp(m - new) + math.exp(x - new)
        m = new
        ms[j], ds[j] = m, d
    return ms, ds
