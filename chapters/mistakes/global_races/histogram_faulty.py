"""The lanes of a warp count letters with +=; equal letters are counted once."""

# scope: warp
import numpy as np
from numba import cuda


@cuda.jit
def letters(text, counts):
    i = cuda.threadIdx.x
    letter = text[i] - 97
    if 0 <= letter < 26:
        counts[letter] += 1  # expect: race


def launch(rng):
    text = np.frombuffer(b"the quick brown fox runs by..", np.uint8).copy()
    rng.shuffle(text)
    return letters, 1, text.size, (text, np.zeros(26, np.int32))
