"""A bitonic sort with a launch for each step, and one of a block in shared memory."""

import numpy as np
from numba import int32

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit
def step(values, apart, run):
    low = cuda.grid(1)
    high = low ^ apart
    if high > low and (values[low] > values[high]) == (low & run == 0):
        values[low], values[high] = values[high], values[low]


@cuda.jit
def sort_block(values):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = values[t]
    cuda.syncthreads()
    run = 2
    while run <= 128:
        apart = run // 2
        while apart > 0:
            p = t ^ apart
            if p > t and (s[t] > s[p]) == ((t & run) == 0):
                s[t], s[p] = s[p], s[t]
            cuda.syncthreads()
            apart //= 2
        run *= 2
    values[t] = s[t]


def check():
    values = rng.permutation(256).astype(np.int32)
    on_device = cuda.to_device(values)
    for run in 2 ** np.arange(1, 9):
        for apart in run >> np.arange(1, run.item().bit_length()):
            step[4, 64](on_device, apart, run)
    assert (on_device.copy_to_host() == np.arange(256)).all()
    block = values[:128].copy()
    sort_block[1, 128](block)
    assert (block == np.sort(values[:128])).all()
