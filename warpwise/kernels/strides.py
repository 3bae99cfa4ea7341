"""Strided or misaligned reads: the same copy, and the extra sectors that it fetches.

A copy of ``n`` elements in which neighbouring threads read elements ``stride`` apart, from
``offset`` on. Their results are contiguous. ``sectors`` is the model: memory comes in sectors of 32
bytes, so a warp's request is known before anything runs.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 256
WARP, SECTOR_BYTES = 32, 32


@cuda.jit
def strides_1_elements(source, target, stride, offset, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        target[i] = source[offset + stride * i]


@cuda.jit
def strides_2_quads(source, target, stride, n):
    """An element is four float32, 16 bytes, which one thread reads and writes at once."""
    i = np.uint32(cuda.grid(1))
    if i < n:
        a, b, c, d = load4(source, np.uint32(4) * stride * i)
        store4(target, np.uint32(4) * i, a, b, c, d)


def run_1_elements(source: Array, target: Array, stride: int, offset: int = 0) -> None:
    """target[i] = source[offset + stride * i], for every element of ``target``.

    Indices stay below 2^32.
    """
    n = target.size
    strides_1_elements[-(-n // THREADS), THREADS](
        source, target, np.uint32(stride), np.uint32(offset), np.uint32(n)
    )


def run_2_quads(source: Array, target: Array, stride: int) -> None:
    """The same with elements of four float32; ``target.size``: a multiple of 4."""
    n = target.size // 4
    strides_2_quads[-(-n // THREADS), THREADS](source, target, np.uint32(stride), np.uint32(n))


def sectors(width: int, stride: int, offset: int = 0) -> int:
    """Return the sectors of a full warp's load: lane i reads element ``offset + stride * i``.

    ``width``: bytes of an element in an aligned array. It divides 32, so no element crosses into
    another sector. With 32 bytes or more between neighbours, each lane needs its own sector; with
    less, no sector between the first and the last is skipped.
    """
    if stride * width >= SECTOR_BYTES:
        return WARP
    first, last = offset * width, (offset + stride * (WARP - 1)) * width
    return last // SECTOR_BYTES - first // SECTOR_BYTES + 1


TYPES = "{0}[::1], {0}[::1], uint32, uint32, uint32"
STEPS = (
    Step(
        "strides_1_elements",
        "one element a thread, read with gaps",
        run_1_elements,
        (
            Built(
                strides_1_elements, TYPES.format("float32"), THREADS, 8, opcodes=("LDG.E", "STG.E")
            ),
            Built(
                strides_1_elements,
                TYPES.format("float16"),
                THREADS,
                8,
                opcodes=("LDG.E.U16", "STG.E.U16"),
            ),
            Built(
                strides_1_elements,
                TYPES.format("float64"),
                THREADS,
                8,
                opcodes=("LDG.E.64", "STG.E.64"),
            ),
        ),
    ),
    Step(
        "strides_2_quads",
        "16 bytes a thread, read with gaps",
        run_2_quads,
        (
            Built(
                strides_2_quads,
                "float32[::1], float32[::1], uint32, uint32",
                THREADS,
                8,
                opcodes=("LDG.E.128", "STG.E.128"),
            ),
        ),
    ),
)
