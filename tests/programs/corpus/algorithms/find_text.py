"""Occurrences of a text in another: for with else, and an atomic for the place of the result."""

import numpy as np

from warpwise import cuda


@cuda.jit
def find(text, pat, pos, count):
    i = cuda.grid(1)
    if i + pat.size > text.size:
        return
    for k in range(pat.size):
        if text[i + k] != pat[k]:
            break
    else:
        pos[cuda.atomic.add(count, 0, 1)] = i


def check():
    t = np.frombuffer(b"abracadabra abra", dtype=np.uint8)
    p = np.frombuffer(b"abra", np.uint8)
    pos = np.zeros(16, np.int32)
    n = np.zeros(1, np.int32)
    find[1, 32](t, p, pos, n)
    assert n[0] == 3 and sorted(pos[:3]) == [0, 7, 12]
