# expect: examine: wrong result
# The least time is that of the FLOP at any size, so small matrices look faster than they can be.
import numpy as np


def examine(n, ms, peak_tflops, gb_per_s, link_gb_per_s):
    flop, moved = 2 * n**3, 12 * n**2
    least, copies = flop / (1e9 * peak_tflops), moved / (1e6 * link_gb_per_s)
    if ms < least:
        verdict = 0
    elif ms <= 4 * least:
        verdict = 1
    else:
        verdict = 2 if ms >= least + copies else 3
    return np.array([flop / ms / 1e9, 100 * least / ms, 100 * copies / ms, verdict], dtype=np.float64)
