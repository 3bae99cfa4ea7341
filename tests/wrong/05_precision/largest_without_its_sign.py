# expect: quantise: wrong result
# The largest value, not the largest magnitude: rows whose extreme is negative leave the range of int8.
import numpy as np


def quantise(x):
    largest = x.max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return np.clip(np.rint(x / scale), -127, 127).astype(np.int8)
