# expect: fastest: wrong result
# Of devices that are equally fast it names the last.
import numpy as np


def fastest(flop, moved, peak_tflops, gb_per_s):
    best = []
    for f, b in zip(flop, moved, strict=True):
        least, which = np.inf, 0
        for d in range(len(peak_tflops)):
            time = max(f / (1e12 * peak_tflops[d]), b / (1e9 * gb_per_s[d]))
            if time <= least:
                least, which = time, d
        best.append(which)
    return np.array(best)
