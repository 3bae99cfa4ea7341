# expect: checkpoints: wrong result
# Less than the limit, where at most the limit is meant.
import itertools

import numpy as np


def peak(sizes, kept):
    checkpoints, again, most = 0, 0, 0
    for size, keep in zip(sizes, kept, strict=True):
        checkpoints, again = (checkpoints + size, 0) if keep else (checkpoints, again + size)
        most = max(most, checkpoints + again)
    return most


def checkpoints(sizes, work, limit):
    best, least = np.zeros(len(sizes), bool), work.sum() + 1
    for others in itertools.product((False, True), repeat=len(sizes) - 1):
        kept = np.array((True, *others))
        if peak(sizes, kept) < limit and work[~kept].sum() < least:
            best, least = kept, work[~kept].sum()
    return best
