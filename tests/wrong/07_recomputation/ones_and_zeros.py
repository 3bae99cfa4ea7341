# expect: checkpoints: wrong type
# The right choice as ints.
import itertools

import numpy as np


def peak(sizes, kept):
    checkpoints, again, most = 0, 0, 0
    for size, keep in zip(sizes, kept, strict=True):
        checkpoints, again = (checkpoints + size, 0) if keep else (checkpoints, again + size)
        most = max(most, checkpoints + again)
    return most


def checkpoints(sizes, work, limit):
    best, least = np.zeros(len(sizes), int), work.sum() + 1
    for others in itertools.product((0, 1), repeat=len(sizes) - 1):
        kept = np.array((1, *others))
        if peak(sizes, kept) <= limit and work[kept == 0].sum() < least:
            best, least = kept, work[kept == 0].sum()
    return best
