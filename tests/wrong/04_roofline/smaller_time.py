# expect: fastest: wrong result
# The smaller of the two times, where the larger decides.
import numpy as np


def fastest(flop, moved, peak_tflops, gb_per_s):
    times = np.minimum(flop[:, None] / (1e12 * peak_tflops), moved[:, None] / (1e9 * gb_per_s))
    return np.argmin(times, axis=1)
