"""Indices written out, early returns, a device function, whole-number division upwards, and a share of neighbours for each thread."""

import numpy as np

from warpwise import cuda


@cuda.jit(device=True)
def number():
    return cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x


@cuda.jit
def square(x, out):
    i = number()
    if i >= out.shape[0]:
        return
    value = x[i]
    out[i] = value * value


def place(n, threads, i):
    blocks = (n + threads - 1) // threads
    block, thread = divmod(i, threads)
    return np.array((blocks, -n % threads, block, thread))


@cuda.jit
def add(a, b, out):
    i = number()
    if i >= a.size or i >= b.size:
        return
    out[i] = a[i] + b[i]


@cuda.jit
def centre(x, mean, out):
    rows, cols = x.shape
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row >= rows:
        return
    if col >= cols:
        return
    out[row, col] = x[row, col] - mean[col]


def choose_launch(n, sms):
    sizes = [32 * 2**k for k in range(6)]
    enough = [threads for threads in sizes if (n + threads - 1) // threads >= sms]
    threads = max(enough, default=32)
    return np.array([(n + threads - 1) // threads, threads], dtype=np.int32)


@cuda.jit
def reverse(x, out):
    each = (x.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
    for turn in range(each):
        i = turn * cuda.gridsize(1) + number()
        if i >= x.size:
            return
        out[i] = x[x.size - 1 - i]
