"""Dynamic shared memory is one piece: arrays in it overlap unless slices keep them apart."""

import numba
import numpy as np

from warpwise import cuda


@cuda.jit
def overlapping(result):
    floats = cuda.shared.array(0, numba.float32)
    integers = cuda.shared.array(0, numba.int32)
    floats[0] = 2.5
    result[0] = floats[0]
    result[1] = integers[0]


@cuda.jit
def apart(result):
    integers = cuda.shared.array(0, dtype=np.int32)[:1]
    floats = cuda.shared.array(0, dtype=np.float32)[1:]
    integers[0] = 7
    floats[0] = 2.5
    result[0] = floats[0]
    result[1] = integers[0]


def check():
    result = np.zeros(2)
    overlapping[1, 1, 0, 4](result)
    assert list(result) == [2.5, np.float32(2.5).view(np.int32)]
    apart[1, 1, 0, 8](result)
    assert list(result) == [2.5, 7]
