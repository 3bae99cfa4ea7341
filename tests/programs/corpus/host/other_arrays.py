"""An array through the interface that libraries share, and the functions that choose a device."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 4


def check():
    d = cuda.to_device(np.zeros(4))
    a = cuda.as_cuda_array(d)
    k[1, 32](a)
    assert (d.copy_to_host() == 4).all()
    assert cuda.is_cuda_array(d)
    with cuda.gpus[0]:
        k[1, 32](d)
    cuda.select_device(0)
    cuda.close()
