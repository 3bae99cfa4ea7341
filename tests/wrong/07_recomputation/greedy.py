# expect: checkpoints: wrong result
# Keeps what has the most work for each byte, one after the other, as long as it fits.
import numpy as np


def peak(sizes, kept):
    checkpoints, again, most = 0, 0, 0
    for size, keep in zip(sizes, kept, strict=True):
        checkpoints, again = (checkpoints + size, 0) if keep else (checkpoints, again + size)
        most = max(most, checkpoints + again)
    return most


def checkpoints(sizes, work, limit):
    kept = np.zeros(len(sizes), bool)
    kept[0] = True
    for i in np.argsort(-work / sizes):
        kept[i] = True
        if peak(sizes, kept) > limit:
            kept[i] = i == 0
    return kept if peak(sizes, kept) <= limit else np.zeros(len(sizes), bool)
