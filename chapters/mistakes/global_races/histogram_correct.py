"""An atomic addition for each letter."""

import numpy as np
from numba import cuda


@cuda.jit
def letters(text, counts):
    i = cuda.threadIdx.x
    letter = text[i] - 97
    if 0 <= letter < 26:
        cuda.atomic.add(counts, letter, 1)


def launch(rng):
    text = np.frombuffer(b"the quick brown fox runs by..", np.uint8).copy()
    rng.shuffle(text)
    return letters, 1, text.size, (text, np.zeros(26, np.int32))


def expected(text, counts):
    return np.array([(text == 97 + k).sum() for k in range(26)])
