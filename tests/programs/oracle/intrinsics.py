"""CUDA's functions of numbers as Numba's simulator has them, and functions of math and NumPy on
numbers."""
# expect: rounding

import math

import numpy as np
from numba import cuda


@cuda.jit
def of_floats(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = cuda.fma(x[i], y[i], x[0])
        out[i, 1] = cuda.cbrt(y[i])
        out[i, 2] = cuda.selp(x[i] > y[i], x[i], y[i])
        out[i, 3] = math.exp2(x[i]) + math.remainder(x[i], y[i])
        fraction, whole = math.modf(x[i])
        out[i, 4] = fraction * 10 + whole


@cuda.jit
def taken_apart(x, out):
    i = cuda.grid(1)
    if i < x.size:
        mantissa, exponent = math.frexp(x[i])
        out[i, 0] = mantissa
        out[i, 1] = exponent
        out[i, 2] = math.ldexp(x[i], 3)
        out[i, 3] = math.nextafter(x[i], x[0])
        out[i, 4] = round(x[i], 2)


@cuda.jit
def of_numpy(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = np.maximum(x[i], y[i]) + np.minimum(x[i], 0) + np.fmax(x[i], y[i])
        out[i, 1] = np.log(y[i]) * np.log2(y[i]) + np.log10(y[i])
        out[i, 2] = np.sin(x[i]) + np.arctan2(x[i], y[i]) - np.tanh(x[i])
        out[i, 3] = np.hypot(x[i], y[i]) + np.radians(x[i])
        out[i, 4] = np.deg2rad(x[i]) + np.arcsinh(x[i])


def launches(rng):
    for n, threads in [(33, 32), (20, 6)]:
        blocks = -(-n // threads)
        for dtype in (np.float32, np.float64):
            x, y = rng.uniform(-5, 5, n).astype(dtype), rng.uniform(0.1, 5, n).astype(dtype)
            for kernel in (of_floats, of_numpy):
                yield kernel, blocks, threads, (x, y, np.zeros((n, 5), dtype))
            yield taken_apart, blocks, threads, (x, np.zeros((n, 5), dtype))
