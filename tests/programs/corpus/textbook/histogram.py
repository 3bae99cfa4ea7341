"""A histogram of letters: runs in a thread, then shared memory, then global memory."""

import numpy as np
from numba import uint32

from warpwise import cuda

BINS = 7


@cuda.jit
def count(text, bins):
    ours = cuda.shared.array(BINS, uint32)
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        ours[b] = 0
    cuda.syncthreads()
    run, last = 0, 0
    for i in range(cuda.grid(1), text.size, cuda.gridsize(1)):
        letter = text[i] - 97
        if 0 <= letter < 26:
            b = letter // 4
            if b != last and run:
                cuda.atomic.add(ours, last, run)
                run = 0
            run += 1
            last = b
    if run:
        cuda.atomic.add(ours, last, run)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        if ours[b]:
            cuda.atomic.add(bins, b, ours[b])


def check():
    text = np.frombuffer(b"many threads, few bins, and spaces between " * 20, np.uint8)
    bins = np.zeros(BINS, np.uint32)
    count[3, 64](text, bins)
    letters = text[(text >= 97) & (text < 123)]
    assert (bins == np.bincount((letters - 97) // 4, minlength=BINS)).all()
