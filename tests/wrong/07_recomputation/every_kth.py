# expect: checkpoints: wrong result
# Equal distances only: the best k, and not the best choice.
import numpy as np


def peak(sizes, kept):
    checkpoints, again, most = 0, 0, 0
    for size, keep in zip(sizes, kept, strict=True):
        checkpoints, again = (checkpoints + size, 0) if keep else (checkpoints, again + size)
        most = max(most, checkpoints + again)
    return most


def checkpoints(sizes, work, limit):
    places = np.arange(len(sizes))
    for k in range(1, len(sizes) + 1):
        kept = places % k == 0
        if peak(sizes, kept) <= limit:
            return kept
    return np.zeros(len(sizes), bool)
