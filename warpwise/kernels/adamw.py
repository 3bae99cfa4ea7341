"""The AdamW update in float32, in place, with decoupled weight decay.

The algorithm: Loshchilov and Hutter, arXiv 1711.05101. ``mean`` and ``square`` are the running
means of the gradient and of its square. ``step`` counts updates from 1.
"""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 256
RATE, BETA1, BETA2, EPSILON, DECAY = 1e-3, 0.9, 0.999, 1e-8, 0.01
NEW1, NEW2 = np.float32(1 - BETA1), np.float32(1 - BETA2)
SMALL, KEPT = np.float32(EPSILON), np.float32(1 - RATE * DECAY)


@cuda.jit(device=True, forceinline=True)
def updated(grad, mean, square, weight, rate, root):
    """Return the new mean, square and weight.

    ``rate`` is divided by 1 - BETA1^step; ``root`` is 1 over the root of 1 - BETA2^step.
    """
    mean += NEW1 * (grad - mean)
    square += NEW2 * (grad * grad - square)
    return mean, square, KEPT * weight - rate * mean / (math.sqrt(square) * root + SMALL)


@cuda.jit
def adamw_1_plain(grad, mean, square, weight, rate, root, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        mean[i], square[i], weight[i] = updated(grad[i], mean[i], square[i], weight[i], rate, root)


@cuda.jit(fastmath=True)
def adamw_2_wide(grad, mean, square, weight, rate, root, quads):
    """A thread loads 16 bytes of each array before it uses the first.

    ``quads``: a quarter of the elements.
    """
    i = np.uint32(cuda.grid(1))
    if i < quads:
        at = i * np.uint32(4)
        g0, g1, g2, g3 = load4(grad, at)
        m0, m1, m2, m3 = load4(mean, at)
        s0, s1, s2, s3 = load4(square, at)
        w0, w1, w2, w3 = load4(weight, at)
        m0, s0, w0 = updated(g0, m0, s0, w0, rate, root)
        m1, s1, w1 = updated(g1, m1, s1, w1, rate, root)
        m2, s2, w2 = updated(g2, m2, s2, w2, rate, root)
        m3, s3, w3 = updated(g3, m3, s3, w3, rate, root)
        store4(mean, at, m0, m1, m2, m3)
        store4(square, at, s0, s1, s2, s3)
        store4(weight, at, w0, w1, w2, w3)


def corrections(step: int) -> tuple[np.float32, np.float32]:
    """Return the ``rate`` and ``root`` of ``updated``, for means that began at 0."""
    return np.float32(RATE / (1 - BETA1**step)), np.float32(1 / math.sqrt(1 - BETA2**step))


def run_1_plain(step: int, grad: Array, mean: Array, square: Array, weight: Array) -> None:
    n = grad.size
    adamw_1_plain[-(-n // THREADS), THREADS](
        grad, mean, square, weight, *corrections(step), np.uint32(n)
    )


def run_2_wide(step: int, grad: Array, mean: Array, square: Array, weight: Array) -> None:
    """``grad.size``: a multiple of 4."""
    quads = grad.size // 4
    adamw_2_wide[-(-quads // THREADS), THREADS](
        grad, mean, square, weight, *corrections(step), np.uint32(quads)
    )


TYPES = "float32[::1], float32[::1], float32[::1], float32[::1], float32, float32, uint32"
STEPS = (
    Step(
        "adamw_1_plain",
        "one element a thread",
        run_1_plain,
        (Built(adamw_1_plain, TYPES, THREADS, 8),),
    ),
    Step(
        "adamw_2_wide",
        "16 bytes a thread of each array",
        run_2_wide,
        (Built(adamw_2_wide, TYPES, THREADS, 5, opcodes=("LDG.E.128", "STG.E.128")),),
    ),
)
