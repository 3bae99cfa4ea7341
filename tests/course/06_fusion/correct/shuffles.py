"""Device functions, grid-stride loops, shuffles between lanes, and rows kept in registers."""

import math

import numpy as np

from warpwise import cuda

ONE = np.float32(1)
PER_THREAD = 8
ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def squared(value):
    return value * value


@cuda.jit
def fused_trig(x, a, b, y):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        angle = x[i]
        y[i] = a * squared(math.sin(angle)) + b * squared(math.cos(angle))


@cuda.jit(device=True)
def gelu(v):
    return np.float32(0.5) * v * (np.float32(1) + math.tanh(np.float32(0.7978845608) * v * (np.float32(1) + np.float32(0.044715) * v * v)))


@cuda.jit
def bias_gelu(x, bias, y):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row >= x.shape[0] or col >= x.shape[1]:
        return
    y[row, col] = gelu(x[row, col] + bias[col])


def elements_moved(reads, makes, kernels, results):
    maker = {int(value): int(kernel) for value, kernel in zip(makes, kernels)}
    loads = {(int(kernel), int(value)) for pair, kernel in zip(reads, kernels) for value in pair if value != -1}
    loads = {(kernel, value) for kernel, value in loads if maker.get(value) != kernel}
    written = {value for _, value in loads if value in maker} | {int(value) for value in results}
    return len(loads) + len(written)


@cuda.jit
def residual_layernorm(x, residual, weight, bias, summed, out, mean, rstd):
    mine = cuda.local.array(PER_THREAD, np.float32)
    counts = cuda.shared.array(4, np.float32)
    means = cuda.shared.array(4, np.float32)
    m2s = cuda.shared.array(4, np.float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    cols = x.shape[1]
    count = np.float32(0)
    middle = np.float32(0)
    m2 = np.float32(0)
    for k in range(PER_THREAD):
        col = t + cuda.blockDim.x * k
        if col < cols:
            mine[k] = x[row, col] + residual[row, col]
            summed[row, col] = mine[k]
            count += np.float32(1)
            delta = mine[k] - middle
            middle += delta / count
            m2 += delta * (mine[k] - middle)
    for bit in (16, 8, 4, 2, 1):
        other = cuda.shfl_xor_sync(ALL, count, bit)
        delta = cuda.shfl_xor_sync(ALL, middle, bit) - middle
        m2 += cuda.shfl_xor_sync(ALL, m2, bit)
        total = count + other
        if total > 0:
            middle += delta * (other / total)
            m2 += delta * delta * (count * other / total)
        count = total
    if t % 32 == 0:
        counts[t // 32] = count
        means[t // 32] = middle
        m2s[t // 32] = m2
    cuda.syncthreads()
    middle = means[0]
    m2 = m2s[0]
    count = counts[0]
    for k in range(1, 4):
        delta = means[k] - middle
        total = count + counts[k]
        middle += delta * (counts[k] / total)
        m2 += m2s[k] + delta * delta * (count * counts[k] / total)
        count = total
    scale = np.float32(1) / math.sqrt(m2 / count + np.float32(1e-5))
    for k in range(PER_THREAD):
        col = t + cuda.blockDim.x * k
        if col < cols:
            out[row, col] = (mine[k] - middle) * scale * weight[col] + bias[col]
    if t == 127:
        mean[row] = middle
        rstd[row] = scale


@cuda.jit
def adamw_step(p, g, m, v, rate, beta1, beta2, c1, c2, eps, decay):
    i = cuda.grid(1)
    if i >= p.size:
        return
    slope, first, second = g[i], m[i], v[i]
    first += (ONE - beta1) * (slope - first)
    second += (ONE - beta2) * (slope * slope - second)
    m[i], v[i] = first, second
    p[i] = p[i] * (ONE - rate * decay) - rate * (first / c1) / (math.sqrt(second / c2) + eps)
