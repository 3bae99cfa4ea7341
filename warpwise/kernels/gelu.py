"""GELU in float32, in the tanh form: x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3)."""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 256
ROOT = np.float32(math.sqrt(2 / math.pi))
CUBIC = np.float32(0.044715)
POWER1 = np.float32(-2 * math.sqrt(2 / math.pi) * math.log2(math.e))  # of x in the exponent of 2
POWER3 = np.float32(-2 * math.sqrt(2 / math.pi) * math.log2(math.e) * 0.044715)  # of its cube
ONE, LN2 = np.float32(1), np.float32(math.log(2))


@cuda.jit
def gelu_1_plain(x, out, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        a = x[i]
        out[i] = np.float32(0.5) * a * (np.float32(1) + math.tanh(ROOT * (a + CUBIC * a * a * a)))


@cuda.jit(device=True, fastmath=True, forceinline=True)
def gelu(a):
    """Return GELU as x / (1 + e^(-2u)), because (1 + tanh(u)) / 2 is 1 / (1 + e^(-2u)).

    The special-function unit computes the power and the division.
    """
    return a / (np.float32(1) + math.exp2(a * (POWER1 + POWER3 * a * a)))


@cuda.jit(device=True, fastmath=True, forceinline=True)
def through_gelu(d, a):
    """Return d times the slope of GELU at a, which is a times 1 / (1 + 2^power)."""
    sigmoid = ONE / (ONE + math.exp2(a * (POWER1 + POWER3 * a * a)))
    slope = LN2 * a * (ONE - sigmoid) * (POWER1 + np.float32(3) * POWER3 * a * a)
    return d * sigmoid * (ONE - slope)


@cuda.jit(fastmath=True)
def gelu_2_wide(x, out, quads):
    """A thread loads two vectors of 16 bytes before it uses the first.

    ``quads``: a quarter of the elements.
    """
    i = np.uint32(cuda.blockIdx.x) * np.uint32(2 * THREADS) + np.uint32(cuda.threadIdx.x)
    j = i + np.uint32(THREADS)
    if j < quads:
        a, b, c, d = load4(x, i * np.uint32(4))
        e, f, g, h = load4(x, j * np.uint32(4))
        store4(out, i * np.uint32(4), gelu(a), gelu(b), gelu(c), gelu(d))
        store4(out, j * np.uint32(4), gelu(e), gelu(f), gelu(g), gelu(h))
    elif i < quads:
        a, b, c, d = load4(x, i * np.uint32(4))
        store4(out, i * np.uint32(4), gelu(a), gelu(b), gelu(c), gelu(d))


def run_1_plain(x: Array, out: Array) -> None:
    gelu_1_plain[-(-x.size // THREADS), THREADS](x, out, np.uint32(x.size))


def run_2_wide(x: Array, out: Array) -> None:
    """``x.size``: a multiple of 4."""
    quads = x.size // 4
    gelu_2_wide[-(-quads // (2 * THREADS)), THREADS](x, out, np.uint32(quads))


TYPES = "float32[::1], float32[::1], uint32"
STEPS = (
    Step(
        "gelu_1_plain",
        "one element a thread, and tanh",
        run_1_plain,
        (Built(gelu_1_plain, TYPES, THREADS, 8),),
    ),
    Step(
        "gelu_2_wide",
        "32 bytes a thread, and a power of 2",
        run_2_wide,
        (Built(gelu_2_wide, TYPES, THREADS, 8, opcodes=("LDG.E.128", "STG.E.128", "MUFU.EX2")),),
    ),
)
