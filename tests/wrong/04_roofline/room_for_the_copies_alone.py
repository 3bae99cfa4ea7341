# expect: examine: wrong result
# Asks whether the copies fit into the time, and not whether the kernel fits beside them.
import numpy as np


def examine(n, ms, peak_tflops, gb_per_s, link_gb_per_s):
    flop, moved = 2 * n**3, 12 * n**2
    least = max(flop / (1e9 * peak_tflops), moved / (1e6 * gb_per_s))
    copies = moved / (1e6 * link_gb_per_s)
    verdict = 0 if ms < least else 1 if ms <= 4 * least else 2 if ms >= copies else 3
    return np.array([flop / ms / 1e9, 100 * least / ms, 100 * copies / ms, verdict], dtype=np.float64)
