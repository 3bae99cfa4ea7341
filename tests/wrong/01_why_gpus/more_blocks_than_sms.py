# expect: choose_launch: wrong result
# Asks for more than sms blocks, where at least as many will do.
import numpy as np


def choose_launch(n, sms):
    for threads in (1024, 512, 256, 128, 64):
        if -(-n // threads) > sms:
            return np.array([-(-n // threads), threads])
    return np.array([-(-n // 32), 32])
