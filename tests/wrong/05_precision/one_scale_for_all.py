# expect: quantise: wrong result
# The largest value of the whole matrix scales every row.
import numpy as np


def quantise(x):
    largest = np.abs(x).max()
    scale = largest / np.float32(127) if largest > 0 else np.float32(1)
    return np.rint(x / scale).astype(np.int8)
