# expect: place: too much output
# Writes to the pipe of the results for ever.
import numpy as np


def place(n, threads, i):
    import os

    while True:
        for number in range(3, 10):
            try:
                os.write(number, bytes(1 << 16))
            except OSError:
                pass
