"""Functions of ``math`` and NumPy: equal within rounding, as the library behind them differs from
machine to machine."""
# expect: rounding

import math

import numpy as np
from numba import cuda


@cuda.jit
def powers_and_roots(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = math.sqrt(x[i])
        out[i, 1] = math.exp(-x[i])
        out[i, 2] = math.log(x[i])
        out[i, 3] = math.pow(x[i], 1.5)
        out[i, 4] = math.log2(x[i]) + math.log10(x[i]) + math.log1p(x[i]) + math.expm1(x[i])


@cuda.jit
def angles(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = math.sin(x[i]) ** 2 + math.cos(x[i]) ** 2
        out[i, 1] = math.tan(x[i])
        out[i, 2] = math.atan(x[i]) + math.atan2(x[i], x[i] + 1)
        out[i, 3] = math.asin(x[i] / 10) + math.acos(x[i] / 10)
        out[i, 4] = math.radians(x[i]) + math.degrees(x[i])


@cuda.jit
def hyperbolic(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = math.sinh(x[i])
        out[i, 1] = math.cosh(x[i])
        out[i, 2] = math.tanh(x[i])
        out[i, 3] = math.asinh(x[i]) + math.acosh(x[i] + 1) + math.atanh(x[i] / 10)
        out[i, 4] = math.hypot(x[i], 3) + math.copysign(x[i], -1)


@cuda.jit
def special(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = math.erf(x[i])
        out[i, 1] = math.erfc(x[i])
        out[i, 2] = math.gamma(x[i])
        out[i, 3] = math.lgamma(x[i])
        out[i, 4] = math.fabs(-x[i]) + math.fmod(x[i], 2)


@cuda.jit
def whole_numbers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = math.floor(x[i])
        out[i, 1] = math.ceil(x[i])
        out[i, 2] = math.floor(-x[i])
        out[i, 3] = round(x[i])
        out[i, 4] = math.sqrt(i) + math.pi * math.e


@cuda.jit
def sigmoid(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = 1 / (1 + math.exp(-x[i]))
        out[i, 1] = x[i] if x[i] > 0 else math.exp(x[i]) - 1


@cuda.jit
def odd_values(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = math.isnan(x[i])
        out[i, 1] = math.isinf(x[i])
        out[i, 2] = math.isfinite(x[i])
        out[i, 3] = x[i] == x[i]
        out[i, 4] = x[i] < math.inf


@cuda.jit
def softmax_rows(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        top = x[row, 0]
        for i in range(1, x.shape[1]):
            top = max(top, x[row, i])
        total = 0.0
        for i in range(x.shape[1]):
            total += math.exp(x[row, i] - top)
        for i in range(x.shape[1]):
            out[row, i] = math.exp(x[row, i] - top) / total


def launches(rng):
    for n, threads in [(33, 32), (20, 6)]:
        blocks = -(-n // threads)
        for dtype in (np.float32, np.float64):
            x = rng.uniform(0.1, 5, n).astype(dtype)
            for kernel in (powers_and_roots, angles, hyperbolic, special, whole_numbers, sigmoid):
                yield kernel, blocks, threads, (x, np.zeros((n, 5), dtype))
            strange = rng.choice(np.array([np.nan, np.inf, -np.inf, 0, 1], dtype), n)
            yield odd_values, blocks, threads, (strange, np.zeros((n, 5), np.int64))
            yield (
                softmax_rows,
                blocks,
                threads,
                (rng.standard_normal((n, 5)).astype(dtype), np.zeros((n, 5), dtype)),
            )
