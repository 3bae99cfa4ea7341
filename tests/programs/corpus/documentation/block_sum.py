"""A block sums up to 1,024 numbers in place; the shared size is a name bound below the kernel."""

import numba
import numpy as np

from warpwise import cuda


@cuda.jit
def sum_in_place(numbers):
    me = cuda.threadIdx.x
    if me < len(numbers):
        shared = cuda.shared.array(COUNT, numba.int32)
        shared[me] = numbers[cuda.grid(1)]
        cuda.syncthreads()
        apart = 1
        while apart < cuda.blockDim.x:
            if me % (2 * apart) == 0:
                shared[me] += shared[me + apart]
            apart *= 2
            cuda.syncthreads()
        if me == 0:
            numbers[me] = shared[me]


COUNT = 1024


def check():
    numbers = cuda.to_device(np.arange(COUNT, dtype=np.int32))
    sum_in_place[1, COUNT](numbers)
    assert numbers[0] == COUNT * (COUNT - 1) // 2
