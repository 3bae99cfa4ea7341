# expect: judge_kernels: wrong result
# FLOP/byte times GB/s are GFLOP/s, and the peak is in TFLOP/s.
import numpy as np


def judge_kernels(flop, moved, ms, peak_tflops, gb_per_s):
    attainable = np.minimum(peak_tflops, flop / moved * gb_per_s)
    seconds = ms / 1e3
    least = np.maximum(flop / (1e12 * peak_tflops), moved / (1e9 * gb_per_s))
    return np.stack([attainable, 100 * flop / seconds / (1e12 * peak_tflops), 100 * least / seconds], axis=1)
