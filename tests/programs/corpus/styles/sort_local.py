"""A median filter: nine bytes are sorted in a local array, which a device function is given."""

import numpy as np
from numba import uint8

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit(device=True)
def insertion(a, n):
    for i in range(1, n):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


@cuda.jit
def median(img, out):
    x, y = cuda.grid(2)
    if x >= 1 and y >= 1 and x < img.shape[1] - 1 and y < img.shape[0] - 1:
        w = cuda.local.array(9, uint8)
        n = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                w[n] = img[y + dy, x + dx]
                n += 1
        insertion(w, 9)
        out[y, x] = w[4]


def check():
    im = rng.integers(0, 256, (20, 24), dtype=np.uint8)
    o = np.zeros_like(im)
    median[(2, 2), (16, 16)](im, o)
    r = [[np.median(im[y - 1 : y + 2, x - 1 : x + 2]) for x in range(1, 23)] for y in range(1, 19)]
    assert (o[1:-1, 1:-1] == np.array(r)).all()
