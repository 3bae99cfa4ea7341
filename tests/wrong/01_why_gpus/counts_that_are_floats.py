# expect: place: wrong type
# np.ceil gives a float, and so all four numbers become floats.
import numpy as np


def place(n, threads, i):
    blocks = np.ceil(n / threads)
    return np.array([blocks, blocks * threads - n, i // threads, i % threads])
