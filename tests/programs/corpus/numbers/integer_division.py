"""Division, remainder and shifts of negative integers."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(a, b, o):
    i = cuda.grid(1)
    if i < a.size:
        o[i, 0] = a[i] // b[i]
        o[i, 1] = a[i] % b[i]
        q, r = divmod(a[i], b[i])
        o[i, 2] = q
        o[i, 3] = r
        o[i, 4] = a[i] >> 1
        o[i, 5] = abs(a[i])
        o[i, 6] = -a[i]


def check():
    a = np.array([7, -7, 7, -7, 0], np.int32)
    b = np.array([2, 2, -2, -2, 3], np.int32)
    o = np.zeros((5, 7), int)
    k[1, 8](a, b, o)
    assert (
        (o[:, 0] == a // b).all()
        and (o[:, 1] == a % b).all()
        and (o[:, 2] == a // b).all()
        and (o[:, 4] == a >> 1).all()
        and (o[:, 6] == -a).all()
    )
