# expect: judge_kernels: wrong result
# The time of the bytes and the time of the FLOP one after the other, as if they did not overlap.
import numpy as np


def judge_kernels(flop, moved, ms, peak_tflops, gb_per_s):
    peak, rate, seconds = 1e12 * peak_tflops, 1e9 * gb_per_s, ms / 1e3
    least = flop / peak + moved / rate
    attainable = np.minimum(peak, flop / moved * rate)
    return np.stack([attainable / 1e12, 100 * flop / seconds / peak, 100 * least / seconds], axis=1)
