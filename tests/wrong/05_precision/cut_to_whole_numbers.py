# expect: quantise: wrong result
# astype cuts off what is behind the point; nothing was rounded before.
import numpy as np


def quantise(x):
    largest = np.abs(x).max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return (x / scale).astype(np.int8)
