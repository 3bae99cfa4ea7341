# expect: quantise: wrong type
# The numbers are whole, but they still take 4 bytes each.
import numpy as np


def quantise(x):
    largest = np.abs(x).max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return np.rint(x / scale)
