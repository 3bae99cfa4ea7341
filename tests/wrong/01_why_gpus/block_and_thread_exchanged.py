# expect: place: wrong result
# The quotient is the block, and the remainder the thread.
import numpy as np


def place(n, threads, i):
    blocks = -(-n // threads)
    return np.array([blocks, blocks * threads - n, i % threads, i // threads])
