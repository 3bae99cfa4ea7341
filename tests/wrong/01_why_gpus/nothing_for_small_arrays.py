# expect: choose_launch: wrong type
# Ends without a return where even blocks of 32 are too few.
from math import ceil

import numpy as np


def choose_launch(n, sms):
    for threads in (1024, 512, 256, 128, 64, 32):
        if ceil(n / threads) >= sms:
            return np.array([ceil(n / threads), threads])
