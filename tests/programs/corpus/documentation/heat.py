"""Heat along a rod: all blocks of a grid wait for one another after each step."""

import numpy as np

from warpwise import cuda


@cuda.jit
def cool(now, after, steps, rate):
    i = cuda.grid(1)
    if i >= now.size:
        return
    everyone = cuda.cg.this_grid()
    for step in range(steps):
        if step % 2:
            old = after
            new = now
        else:
            old = now
            new = after
        left = old[i - 1] if i > 0 else 0.0
        right = old[i + 1] if i < len(old) - 1 else 0.0
        new[i] = old[i] + rate * (left - 2 * old[i] + right)
        everyone.sync()


def check():
    rod = np.where(np.arange(128) < 64, 100.0, 0.0)
    first, second = cuda.to_device(rod), cuda.device_array_like(rod)
    cool[4, 32](first, second, 61, 0.25)
    for _ in range(61):
        padded = np.pad(rod, 1)
        rod = rod + 0.25 * (padded[:-2] - 2 * rod + padded[2:])
    assert np.allclose(second.copy_to_host(), rod)
