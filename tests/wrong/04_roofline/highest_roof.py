# expect: fastest: wrong result
# Compares speeds: a copy has none, and then the first device wins.
import numpy as np


def fastest(flop, moved, peak_tflops, gb_per_s):
    intensity = (flop / moved)[:, None]
    return np.argmax(np.minimum(1e12 * peak_tflops, intensity * 1e9 * gb_per_s), axis=1)
