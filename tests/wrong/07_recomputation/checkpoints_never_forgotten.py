# expect: checkpoints: wrong result
# All checkpoints and the largest segment, as if no checkpoint were ever let go.
import itertools

import numpy as np


def most_bytes(sizes, kept):
    segments = np.cumsum(kept)
    return sizes[kept].sum() + max(sizes[(segments == s) & ~kept].sum() for s in segments)


def checkpoints(sizes, work, limit):
    best, least = np.zeros(len(sizes), bool), work.sum() + 1
    for others in itertools.product((False, True), repeat=len(sizes) - 1):
        kept = np.array((True, *others))
        if most_bytes(sizes, kept) <= limit and work[~kept].sum() < least:
            best, least = kept, work[~kept].sum()
    return best
