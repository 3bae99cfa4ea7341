"""One thread merges, and the squared differences are summed in a second pass over shared memory, once the mean is known."""

import math

import numpy as np

from warpwise import cuda


@cuda.jit
def fused_trig(x, a, b, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < y.size:
        v = x[i]
        y[i] = b * math.cos(v) ** 2 + a * math.sin(v) ** 2


@cuda.jit
def bias_gelu(x, bias, y):
    half, one = np.float32(0.5), np.float32(1)
    col, row = cuda.grid(2)
    if row < x.shape[0]:
        if col < x.shape[1]:
            v = x[row, col]
            v += bias[col]
            cube = np.float32(0.044715) * (v * v * v)
            y[row, col] = half * v * (one + math.tanh(np.float32(0.7978845608) * (v + cube)))


def elements_moved(reads, makes, kernels, results):
    accesses = set()
    for i in range(len(makes)):
        for value in reads[i]:
            source = [j for j in range(len(makes)) if makes[j] == value]
            if value < 0 or (source and kernels[source[0]] == kernels[i]):
                continue
            accesses.add(("read", int(kernels[i]), int(value)))
            if source:
                accesses.add(("write", int(value)))
    for value in results:
        accesses.add(("write", int(value)))
    return len(accesses)


@cuda.jit
def residual_layernorm(x, residual, weight, bias, summed, out, mean, rstd):
    kept = cuda.shared.array(1024, np.float32)
    partial = cuda.shared.array(128, np.float32)
    both = cuda.shared.array(2, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    length = np.float32(x.shape[1])
    first = np.float32(0)
    for col in range(t, x.shape[1], 128):
        kept[col] = x[row, col] + residual[row, col]
        summed[row, col] = kept[col]
    cuda.syncthreads()
    first = kept[0]  # the row without it has a small mean, and its sum keeps its digits
    total = np.float32(0)
    for col in range(t, x.shape[1], 128):
        total += kept[col] - first
    partial[t] = total
    half = 64
    while half > 0:
        cuda.syncthreads()
        if t < half:
            partial[t] += partial[t + half]
        half //= 2
    if t == 0:
        both[0] = first + partial[0] / length
    cuda.syncthreads()
    squares = np.float32(0)
    for col in range(t, x.shape[1], 128):
        squares += (kept[col] - both[0]) ** 2
    partial[t] = squares
    half = 64
    while half > 0:
        cuda.syncthreads()
        if t < half:
            partial[t] += partial[t + half]
        half //= 2
    if t == 0:
        both[1] = np.float32(1) / math.sqrt(partial[0] / length + np.float32(1e-5))
        mean[row] = both[0]
        rstd[row] = both[1]
    cuda.syncthreads()
    for col in range(t, x.shape[1], 128):
        out[row, col] = weight[col] * ((kept[col] - both[0]) * both[1]) + bias[col]


@cuda.jit
def adamw_step(p, g, m, v, rate, beta1, beta2, c1, c2, eps, decay):
    i = cuda.grid(1)
    if i < g.size:
        slope = g[i]
        new_m = slope + beta1 * (m[i] - slope)
        new_v = slope * slope + beta2 * (v[i] - slope * slope)
        m[i] = new_m
        v[i] = new_v
        spread = math.sqrt(new_v / c2) + eps
        value = p[i]
        value -= rate * decay * value
        p[i] = value - rate * new_m / (c1 * spread)
