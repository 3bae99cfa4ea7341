"""The game of life on a torus, with loops over tuples and a device function."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit(device=True)
def wrap(i, n):
    return (i + n) % n


@cuda.jit
def life(src, dst):
    y, x = cuda.grid(2)
    h, w = src.shape
    if y >= h or x >= w:
        return
    n = 0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy == 0 and dx == 0:
                continue
            n += src[wrap(y + dy, h), wrap(x + dx, w)]
    dst[y, x] = 1 if (n == 3 or (n == 2 and src[y, x])) else 0


def check():
    a = (rng.random((37, 50)) < 0.4).astype(np.uint8)
    d0 = cuda.to_device(a)
    d1 = cuda.device_array_like(d0)
    for _ in range(5):
        life[(3, 4), (16, 16)](d0, d1)
        d0, d1 = d1, d0
        n = sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - a
        a = ((n == 3) | ((n == 2) & (a == 1))).astype(np.uint8)
    assert (d0.copy_to_host() == a).all()
