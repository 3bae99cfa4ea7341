# expect: running_state: wrong result
# The maximum begins at 0, so a row of negative numbers never gets its own.
import math

import numpy as np


def running_state(row):
    ms, ds = np.empty(row.size), np.empty(row.size)
    m, d = 0.0, 0.0
    for j, x in enumerate(row):
        if x > m:
            d = d * math.exp(m - x) + 1
            m = x
        else:
            d += math.exp(x - m)
        ms[j], ds[j] = m, d
    return ms, ds
