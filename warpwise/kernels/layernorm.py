"""Layer normalisation, forward, in float32: each row standardised, times ``weight`` plus ``bias``.

``x``, ``out``: rows of C elements, flat and one after another; C is ``weight.size``. The variance
is that of the row's own elements (the sum of squares over C), with 1e-5 added. Left out: storing
means and deviations for a backward pass.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.softmax import warp_sum
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 128
WARPS = THREADS // 32
EPSILON = np.float32(1e-5)


@cuda.jit
def layernorm_1_plain(x, weight, bias, out, rows, width):
    row = np.uint32(cuda.grid(1))
    if row < rows:
        first, over = row * width, np.float32(1) / np.float32(width)
        total = np.float32(0)
        for k in range(width):
            total += x[first + np.uint32(k)]
        mean = total * over
        total = np.float32(0)
        for k in range(width):
            d = x[first + np.uint32(k)] - mean
            total += d * d
        f = np.float32(1) / math.sqrt(total * over + EPSILON)
        for k in range(width):
            at = first + np.uint32(k)
            out[at] = (x[at] - mean) * f * weight[k] + bias[k]


@cuda.jit
def layernorm_2_warp(x, weight, bias, out, rows, width):
    lane = np.uint32(cuda.threadIdx.x) & np.uint32(31)
    row = np.uint32(cuda.blockIdx.x) * np.uint32(WARPS) + (
        np.uint32(cuda.threadIdx.x) >> np.uint32(5)
    )
    if row < rows:
        first, over = row * width, np.float32(1) / np.float32(width)
        total = np.float32(0)
        for k in range(lane, width, 32):
            total += x[first + np.uint32(k)]
        mean = warp_sum(total) * over
        total = np.float32(0)
        for k in range(lane, width, 32):
            d = x[first + np.uint32(k)] - mean
            total += d * d
        f = np.float32(1) / math.sqrt(warp_sum(total) * over + EPSILON)
        for k in range(lane, width, 32):
            at = first + np.uint32(k)
            out[at] = (x[at] - mean) * f * weight[np.uint32(k)] + bias[np.uint32(k)]


@functools.cache
def wide(vectors: int) -> Any:
    """Return the kernel for rows of at most ``vectors`` x 128 elements.

    A lane holds ``vectors`` times 16 bytes.
    """
    quads = 4 * vectors

    @cuda.jit
    def layernorm_3_wide(x, weight, bias, out, rows, width):
        values = cuda.local.array(quads, "float32")
        lane = np.uint32(cuda.threadIdx.x) & np.uint32(31)
        row = np.uint32(cuda.blockIdx.x) * np.uint32(WARPS) + (
            np.uint32(cuda.threadIdx.x) >> np.uint32(5)
        )
        if row < rows:
            first, over = row * width, np.float32(1) / np.float32(width)
            for i in range(0, quads, 4):  # all loads before the first use
                at = lane * np.uint32(4) + np.uint32(32 * i)
                values[i] = values[i + 1] = values[i + 2] = values[i + 3] = np.float32(0)
                if at < width:
                    values[i], values[i + 1], values[i + 2], values[i + 3] = load4(x, first + at)
            total = np.float32(0)
            for i in range(quads):
                total += values[i]
            mean = warp_sum(total) * over
            total = np.float32(0)
            for i in range(0, quads, 4):
                if lane * np.uint32(4) + np.uint32(32 * i) < width:
                    for j in range(4):
                        values[i + j] -= mean
                        total += values[i + j] * values[i + j]
            f = np.float32(1) / math.sqrt(warp_sum(total) * over + EPSILON)
            for i in range(0, quads, 4):
                at = lane * np.uint32(4) + np.uint32(32 * i)
                if at < width:
                    w0, w1, w2, w3 = load4(weight, at)
                    b0, b1, b2, b3 = load4(bias, at)
                    store4(
                        out,
                        first + at,
                        values[i] * f * w0 + b0,
                        values[i + 1] * f * w1 + b1,
                        values[i + 2] * f * w2 + b2,
                        values[i + 3] * f * w3 + b3,
                    )

    return layernorm_3_wide


def run_1_plain(x: Array, weight: Array, bias: Array, out: Array) -> None:
    rows = x.size // weight.size
    layernorm_1_plain[-(-rows // THREADS), THREADS](
        x, weight, bias, out, np.uint32(rows), np.uint32(weight.size)
    )


def run_2_warp(x: Array, weight: Array, bias: Array, out: Array) -> None:
    rows = x.size // weight.size
    layernorm_2_warp[-(-rows // WARPS), THREADS](
        x, weight, bias, out, np.uint32(rows), np.uint32(weight.size)
    )


def run_3_wide(x: Array, weight: Array, bias: Array, out: Array) -> None:
    """``weight.size``: a multiple of 4; beyond a few thousand a row exceeds a warp's registers."""
    rows, kernel = x.size // weight.size, wide(-(-weight.size // 128))
    kernel[-(-rows // WARPS), THREADS](
        x, weight, bias, out, np.uint32(rows), np.uint32(weight.size)
    )


TYPES = "float32[::1], float32[::1], float32[::1], float32[::1], uint32, uint32"
STEPS = (
    Step(
        "layernorm_1_plain",
        "a thread a row",
        run_1_plain,
        (Built(layernorm_1_plain, TYPES, THREADS, 8),),
    ),
    Step(
        "layernorm_2_warp",
        "a warp a row: neighbouring lanes read neighbouring elements",
        run_2_warp,
        (Built(layernorm_2_warp, TYPES, THREADS, 8),),
    ),
    Step(
        "layernorm_3_wide",
        "the row is read once, 16 bytes a lane, and kept in registers",
        run_3_wide,
        (Built(wide(13), TYPES, THREADS, 5, opcodes=("LDG.E.128", "STG.E.128")),),
    ),
)
