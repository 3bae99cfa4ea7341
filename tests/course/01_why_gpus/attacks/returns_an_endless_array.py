# expect: choose_launch: wrong result
# An array of a million by a million numbers, none of which takes memory.
import numpy as np


def choose_launch(n, sms):
    return np.broadcast_to(np.int64(0), (10**6, 10**6))
