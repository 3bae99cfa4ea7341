"""cuda.reduce as function and decorator, with a start value and with a result on the device."""

import numpy as np

from warpwise import cuda


def check():
    sum_reduce = cuda.reduce(lambda a, b: a + b)
    A = (np.arange(1234, dtype=np.float64)) + 1
    assert sum_reduce(A) == A.sum()

    @cuda.reduce
    def mx(a, b):
        return max(a, b)

    assert mx(A) == 1234
    assert mx(A, init=5000) == 5000
    r = cuda.Reduce(lambda a, b: a * b)
    assert r(np.array([1, 2, 3, 4]), init=1) == 24
    res = cuda.device_array(1, np.float64)
    sum_reduce(cuda.to_device(A), res=res)
    assert res.copy_to_host()[0] == A.sum()
