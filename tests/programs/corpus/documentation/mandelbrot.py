"""Escape times of points in a plane: complex numbers, a device function, a 2-D grid stride."""

import numpy as np

from warpwise import cuda


@cuda.jit(device=True)
def escape(real, imaginary, most):
    start = complex(real, imaginary)
    at = 0j
    for step in range(most):
        at = at * at + start
        if at.real**2 + at.imag**2 >= 4:
            return step
    return most


@cuda.jit
def picture(left, bottom, pixel, image, most):
    x0, y0 = cuda.grid(2)
    dx, dy = cuda.gridsize(2)
    for y in range(y0, image.shape[0], dy):
        for x in range(x0, image.shape[1], dx):
            image[y, x] = escape(left + x * pixel, bottom + y * pixel, most)


def check():
    image = np.zeros((40, 60), np.uint8)
    picture[(2, 2), (16, 8)](-2.0, -1.0, 0.05, image, 20)
    start = (-2.0 + np.arange(60) * 0.05) + 1j * (-1.0 + np.arange(40) * 0.05)[:, None]
    at, steps = np.zeros_like(start), np.full(start.shape, 20)
    for step in range(20):
        at = np.where(steps == 20, at * at + start, 0)
        steps[(at.real**2 + at.imag**2 >= 4) & (steps == 20)] = step
    assert (image == steps).all()
