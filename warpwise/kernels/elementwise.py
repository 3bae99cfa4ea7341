"""z = a x + y, element by element, in float64, float32 and float16: purely memory-bound work.

Numbers of float16 come as their bits, because Numba has no wide accesses to them and calls a
library for float16 arithmetic: one in an int16, or a pair in a uint32, the first in the low half.
The arithmetic is in float32.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 256
SCALE = 0.75  # the a of all steps, exact in float16 too
A = np.float32(SCALE)
QUAD = np.uint32(4)
LOW, HALF_BITS = np.uint32(0xFFFF), np.uint32(16)


@cuda.jit
def elementwise_1_plain(x, y, z, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        z[i] = A * x[i] + y[i]


@cuda.jit(device=True)
def scaled_quad(x, y, z, quad):
    at = quad * QUAD
    x0, x1, x2, x3 = load4(x, at)
    y0, y1, y2, y3 = load4(y, at)
    store4(z, at, A * x0 + y0, A * x1 + y1, A * x2 + y2, A * x3 + y3)


@cuda.jit
def elementwise_2_wide(x, y, z, quads):
    """A thread has four neighbouring elements; ``quads`` is a quarter of the elements."""
    i = np.uint32(cuda.grid(1))
    if i < quads:
        scaled_quad(x, y, z, i)


@cuda.jit
def elementwise_3_in_flight(x, y, z, quads):
    """A thread loads two quads, a block's width apart, before it computes."""
    i = np.uint32(cuda.blockIdx.x * np.uint32(2 * THREADS) + cuda.threadIdx.x)
    j = np.uint32(i + np.uint32(THREADS))
    if j < quads:
        at, then = i * QUAD, j * QUAD
        x0, x1, x2, x3 = load4(x, at)
        x4, x5, x6, x7 = load4(x, then)
        y0, y1, y2, y3 = load4(y, at)
        y4, y5, y6, y7 = load4(y, then)
        store4(z, at, A * x0 + y0, A * x1 + y1, A * x2 + y2, A * x3 + y3)
        store4(z, then, A * x4 + y4, A * x5 + y5, A * x6 + y6, A * x7 + y7)
    elif i < quads:
        scaled_quad(x, y, z, i)


@cuda.jit
def elementwise_half_1_plain(x, y, z, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        z[i] = cuda.libdevice.float2half_rn(
            A * cuda.libdevice.half2float(x[i]) + cuda.libdevice.half2float(y[i])
        )


@cuda.jit(device=True)
def low(word):
    """Return the first float16 of a word as float32."""
    return cuda.libdevice.half2float(np.int16(np.uint16(word & LOW)))


@cuda.jit(device=True)
def high(word):
    """Return the second float16 of a word as float32."""
    return cuda.libdevice.half2float(np.int16(np.uint16(word >> HALF_BITS)))


@cuda.jit(device=True)
def packed(first, second):
    """Return two numbers as float16 in one word."""
    below = np.uint32(np.uint16(cuda.libdevice.float2half_rn(first)))
    above = np.uint32(np.uint16(cuda.libdevice.float2half_rn(second)))
    return np.uint32(above << HALF_BITS | below)


@cuda.jit(device=True)
def scaled_pair(x, y):
    return packed(A * low(x) + low(y), A * high(x) + high(y))


@cuda.jit
def elementwise_half_2_pairs(x, y, z, words):
    i = np.uint32(cuda.grid(1))
    if i < words:
        z[i] = scaled_pair(x[i], y[i])


@cuda.jit
def elementwise_half_3_wide(x, y, z, quads):
    """A thread has eight neighbouring elements in four words; ``quads`` is an eighth of all."""
    i = np.uint32(cuda.grid(1))
    if i < quads:
        at = i * QUAD
        x0, x1, x2, x3 = load4(x, at)
        y0, y1, y2, y3 = load4(y, at)
        store4(
            z,
            at,
            scaled_pair(x0, y0),
            scaled_pair(x1, y1),
            scaled_pair(x2, y2),
            scaled_pair(x3, y3),
        )


def _blocks(threads: int) -> int:
    return -(-threads // THREADS)


def run_1_plain(x: Array, y: Array, z: Array) -> None:
    """``x``, ``y``, ``z``: float32 or float64."""
    elementwise_1_plain[_blocks(x.size), THREADS](x, y, z, np.uint32(x.size))


def run_2_wide(x: Array, y: Array, z: Array) -> None:
    """``x.size``: a multiple of 4."""
    elementwise_2_wide[_blocks(x.size // 4), THREADS](x, y, z, np.uint32(x.size // 4))


def run_3_in_flight(x: Array, y: Array, z: Array) -> None:
    """``x.size``: a multiple of 4."""
    elementwise_3_in_flight[_blocks(-(-x.size // 8)), THREADS](x, y, z, np.uint32(x.size // 4))


def run_half_1_plain(x: Array, y: Array, z: Array) -> None:
    """``x``, ``y``, ``z``: uint32, as in the other float16 steps, viewed as single elements."""
    x, y, z = x.view(np.int16), y.view(np.int16), z.view(np.int16)
    elementwise_half_1_plain[_blocks(x.size), THREADS](x, y, z, np.uint32(x.size))


def run_half_2_pairs(x: Array, y: Array, z: Array) -> None:
    """``x``, ``y``, ``z``: uint32, ``x.size`` pairs."""
    elementwise_half_2_pairs[_blocks(x.size), THREADS](x, y, z, np.uint32(x.size))


def run_half_3_wide(x: Array, y: Array, z: Array) -> None:
    """``x``, ``y``, ``z``: uint32, ``x.size`` pairs, a multiple of 4."""
    elementwise_half_3_wide[_blocks(x.size // 4), THREADS](x, y, z, np.uint32(x.size // 4))


def _types(element: str) -> str:
    return f"{element}[::1], {element}[::1], {element}[::1], uint32"


WIDE = ("LDG.E.128", "STG.E.128")
SINGLE = (
    Step(
        "elementwise_1_plain",
        "one element a thread",
        run_1_plain,
        (
            Built(elementwise_1_plain, _types("float32"), THREADS, 8),
            Built(elementwise_1_plain, _types("float64"), THREADS, 8),
        ),
    ),
    Step(
        "elementwise_2_wide",
        "16 bytes an access",
        run_2_wide,
        (Built(elementwise_2_wide, _types("float32"), THREADS, 8, WIDE),),
    ),
    Step(
        "elementwise_3_in_flight",
        "four loads in flight in each thread",
        run_3_in_flight,
        (Built(elementwise_3_in_flight, _types("float32"), THREADS, 8, WIDE),),
    ),
)
HALF = (
    Step(
        "elementwise_half_1_plain",
        "one float16 a thread, 2 bytes an access",
        run_half_1_plain,
        (Built(elementwise_half_1_plain, _types("int16"), THREADS, 8),),
    ),
    Step(
        "elementwise_half_2_pairs",
        "two float16 in a word",
        run_half_2_pairs,
        (Built(elementwise_half_2_pairs, _types("uint32"), THREADS, 8),),
    ),
    Step(
        "elementwise_half_3_wide",
        "eight float16 in an access of 16 bytes",
        run_half_3_wide,
        (Built(elementwise_half_3_wide, _types("uint32"), THREADS, 8, WIDE),),
    ),
)
STEPS = SINGLE + HALF
