# expect: checkpoints: wrong result
# It counts the room of what is kept, and none for what is made again.
import itertools

import numpy as np


def checkpoints(sizes, work, limit):
    best, least = np.zeros(len(sizes), bool), work.sum() + 1
    for others in itertools.product((False, True), repeat=len(sizes) - 1):
        kept = np.array((True, *others))
        if sizes[kept].sum() <= limit and work[~kept].sum() < least:
            best, least = kept, work[~kept].sum()
    return best
