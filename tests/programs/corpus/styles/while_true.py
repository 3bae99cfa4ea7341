"""Loops that only break ends: Collatz."""

import numpy as np

from warpwise import cuda


@cuda.jit
def collatz(n, steps):
    i = cuda.grid(1)
    if i >= n.size:
        return
    v = n[i]
    c = 0
    while True:
        if v == 1:
            break
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        c += 1
    steps[i] = c


def check():
    n = np.arange(1, 200)
    s = np.zeros(199, int)
    collatz[7, 32](n, s)

    def f(v):
        c = 0
        while v != 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            c += 1
        return c

    assert (s == [f(int(v)) for v in n]).all()
