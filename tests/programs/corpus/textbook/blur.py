"""A blur of a picture of bytes, cut off at the edges."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)

BLUR = 1


@cuda.jit
def blur(inp, out):
    col, row = cuda.grid(2)
    h, w = inp.shape
    if col < w and row < h:
        val = 0
        n = 0
        for dr in range(-BLUR, BLUR + 1):
            for dc in range(-BLUR, BLUR + 1):
                r, c = row + dr, col + dc
                if 0 <= r < h and 0 <= c < w:
                    val += inp[r, c]
                    n += 1
        out[row, col] = val // n


def check():
    im = rng.integers(0, 256, (30, 41), dtype=np.uint8)
    out = np.zeros_like(im)
    blur[(3, 2), (16, 16)](im, out)
    ref = np.zeros_like(im)
    for i in range(30):
        for j in range(41):
            p = im[max(0, i - 1) : i + 2, max(0, j - 1) : j + 2].astype(int)
            ref[i, j] = p.sum() // p.size
    assert (out == ref).all()
