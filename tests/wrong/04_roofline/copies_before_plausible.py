# expect: examine: wrong result
# Asks for room for the copies before it asks whether the time is plausible without them.
import numpy as np


def examine(n, ms, peak_tflops, gb_per_s, link_gb_per_s):
    flop, moved = 2 * n**3, 12 * n**2
    least = max(flop / (1e9 * peak_tflops), moved / (1e6 * gb_per_s))
    copies = moved / (1e6 * link_gb_per_s)
    verdict = 0 if ms < least else 2 if ms >= least + copies else 1 if ms <= 4 * least else 3
    return np.array([flop / ms / 1e9, 100 * least / ms, 100 * copies / ms, verdict], dtype=np.float64)
