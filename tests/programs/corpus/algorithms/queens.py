"""Ways to place queens: a search with a stack of each thread's own."""

import numpy as np
from numba import int32

from warpwise import cuda


@cuda.jit
def nq(n, out):
    c0 = cuda.grid(1)
    if c0 >= n:
        return
    cols = cuda.local.array(10, int32)
    cols[0] = c0
    row = 1
    c = 0
    cnt = 0
    while row > 0:
        placed = False
        while c < n:
            ok = True
            for r in range(row):
                if cols[r] == c or abs(cols[r] - c) == row - r:
                    ok = False
                    break
            if ok:
                placed = True
                break
            c += 1
        if placed:
            if row == n - 1:
                cnt += 1
                c += 1
            else:
                cols[row] = c
                row += 1
                c = 0
        else:
            row -= 1
            c = cols[row] + 1
    cuda.atomic.add(out, 0, cnt)


def check():
    o = np.zeros(1, np.int32)
    nq[1, 32](6, o)
    assert o[0] == 4
