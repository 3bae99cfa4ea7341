# expect: checkpoints: wrong result
# The fewest activations are made again, not the least work.
import itertools

import numpy as np


def peak(sizes, kept):
    checkpoints, again, most = 0, 0, 0
    for size, keep in zip(sizes, kept, strict=True):
        checkpoints, again = (checkpoints + size, 0) if keep else (checkpoints, again + size)
        most = max(most, checkpoints + again)
    return most


def checkpoints(sizes, work, limit):
    best, least = np.zeros(len(sizes), bool), len(sizes)
    for others in itertools.product((False, True), repeat=len(sizes) - 1):
        kept = np.array((True, *others))
        if peak(sizes, kept) <= limit and np.sum(~kept) < least:
            best, least = kept, np.sum(~kept)
    return best
