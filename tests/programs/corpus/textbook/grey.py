"""A picture of interleaved bytes to shades of grey, the index computed by hand."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def to_grey(shades, picture, width, height):
    x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if y < height and x < width:
        pixel = y * width + x
        red = picture[3 * pixel]
        green = picture[3 * pixel + 1]
        blue = picture[3 * pixel + 2]
        shades[pixel] = np.uint8(0.25 * red + 0.625 * green + 0.125 * blue)


def check():
    picture = rng.integers(0, 256, (37, 53, 3), dtype=np.uint8)
    shades = np.zeros(37 * 53, np.uint8)
    to_grey[(4, 3), (16, 16)](shades, picture.reshape(-1), 53, 37)
    assert (shades.reshape(37, 53) == (picture @ [0.25, 0.625, 0.125]).astype(np.uint8)).all()
