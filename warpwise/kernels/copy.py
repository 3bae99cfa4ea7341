"""Copying an array: the highest bandwidth of a kernel, with which other kernels are compared."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4, store4

THREADS = 256


@cuda.jit
def copy_1_plain(source, target, n):
    i = np.uint32(cuda.grid(1))
    if i < n:
        target[i] = source[i]


@cuda.jit
def copy_2_wide(source, target, quads):
    """A thread moves 16 bytes; ``quads`` is a quarter of the elements."""
    i = np.uint32(cuda.grid(1))
    if i < quads:
        at = i * np.uint32(4)
        a, b, c, d = load4(source, at)
        store4(target, at, a, b, c, d)


def run_1_plain(source: Array, target: Array) -> None:
    copy_1_plain[-(-source.size // THREADS), THREADS](source, target, np.uint32(source.size))


def run_2_wide(source: Array, target: Array) -> None:
    """``source.size``: a multiple of 4."""
    quads = source.size // 4
    copy_2_wide[-(-quads // THREADS), THREADS](source, target, np.uint32(quads))


TYPES = "float32[::1], float32[::1], uint32"
STEPS = (
    Step(
        "copy_1_plain",
        "one element a thread",
        run_1_plain,
        (Built(copy_1_plain, TYPES, THREADS, 8),),
    ),
    Step(
        "copy_2_wide",
        "16 bytes a thread",
        run_2_wide,
        (Built(copy_2_wide, TYPES, THREADS, 8, opcodes=("LDG.E.128", "STG.E.128")),),
    ),
)
