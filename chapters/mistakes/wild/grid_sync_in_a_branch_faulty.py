"""Labels of sessions: only the threads at the start of one come to the sync of the grid."""

import numpy as np
from numba import cuda


@cuda.jit
def label(user, labels):
    i = cuda.grid(1)
    if i >= user.size:
        return
    if i == 0 or user[i] != user[i - 1]:
        labels[i] = i
        cuda.cg.this_grid().sync()  # expect: BarrierError
        k = i + 1
        while k < user.size and labels[k] == 0:
            labels[k] = i
            k += 1


def launch(rng):
    return label, 2, 32, (np.repeat(np.arange(12), 4), np.zeros(48, np.int64))
