# expect: place: wrong result
# Adds 1 where nothing is left over.
import numpy as np


def place(n, threads, i):
    blocks = n // threads + 1
    return np.array([blocks, blocks * threads - n, i // threads, i % threads])
