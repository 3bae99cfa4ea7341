# expect: judge_kernels: wrong result
# Speed over attainable speed, which for a copy is nothing over nothing.
import numpy as np


def judge_kernels(flop, moved, ms, peak_tflops, gb_per_s):
    attainable = np.minimum(peak_tflops, flop / moved * gb_per_s / 1e3)
    speed = flop / ms / 1e9
    with np.errstate(invalid="ignore"):
        return np.stack([attainable, 100 * speed / peak_tflops, 100 * speed / attainable], axis=1)
