# expect: place: ended the process
# Recurses until Python's own stack is full.
import numpy as np


def place(n, threads, i):
    import sys

    sys.setrecursionlimit(10**9)

    def deeper(depth, key):
        return sorted([depth], key=lambda d: deeper(d + 1, key))

    return deeper(0, None)
