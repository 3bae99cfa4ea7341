# expect: quantise: wrong result
# floor(x + 0.5) takes every half upwards.
import numpy as np


def quantise(x):
    largest = np.abs(x).max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return np.floor(x / scale + np.float32(0.5)).astype(np.int8)
