"""Kernels that more than one test of the widgets traces."""

from __future__ import annotations

import numpy as np

from warpwise import cuda, trace
from warpwise.traces import Trace


@cuda.jit
def copy_strided(x, y, stride, offset):
    i = cuda.grid(1)
    y[i] = x[offset + stride * i]


@cuda.jit
def scale(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i]


@cuda.jit
def transpose_at_once(src, dst):
    """Loads and stores in one line: the loads perfect, the stores as bad as can be."""
    x, y = cuda.grid(2)
    if y < src.shape[0] and x < src.shape[1]:
        dst[x, y] = src[y, x]


@cuda.jit
def sum_shifted_late(x, out):
    """Aligned for 250 of its 300 loads."""
    i = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(300):
        total += x[32 * k + i + k // 250]
    out[i] = total


@cuda.jit
def no_shared(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def write_down(out):
    """Each thread writes who it is at the place that cuda.grid(3) gives it."""
    x, y, z = cuda.grid(3)
    out[z, y, x, 0] = cuda.threadIdx.x
    out[z, y, x, 1] = cuda.threadIdx.y
    out[z, y, x, 2] = cuda.threadIdx.z
    out[z, y, x, 3] = cuda.blockIdx.x
    out[z, y, x, 4] = cuda.blockIdx.y
    out[z, y, x, 5] = cuda.blockIdx.z
    out[z, y, x, 6] = cuda.laneid


@cuda.jit
def gather(x, index, y):  # </script><!-- must not end the page's script
    i = cuda.grid(1)
    if i < y.size:
        j = index[i]
        total = x[j]
        for k in range(8):
            total += x[(j + k * k * 1013904223) * (k + 3) % x.size]
            total += x[(j + k * k * 1664525) * (k + 5) % x.size]
        y[j % y.size] = total


def traced_gather(warps: int = 20) -> Trace:
    """Lanes that read and write anywhere: the addresses that compress worst."""
    index = np.random.default_rng(8).permutation(32 * warps) * 16_381
    return trace(
        gather,
        1,
        32 * warps,
        np.zeros(1 << 24, np.float32),
        index,
        np.zeros(32 * warps - 7, np.float32),
    )
