"""Bank conflicts: loads from shared memory whose lanes address different words of one bank.

Lane i begins at word ``stride * i`` and follows links from there, each to a word of the same bank.
The loads depend on each other, so none can be removed, merged or reordered, and there are enough
warps to keep the banks busy while one waits: so the time of a step is that of its passes over the
banks, which ``wavefronts`` models.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from warpwise import cuda
from warpwise.kernels.step import Array, Built, Step

THREADS = 256
BANKS = 32
WORDS = 1024  # 4 KB: strides up to 33
UNROLLED = 16  # loads per iteration of the loop


@cuda.jit
def banks_1_strided(links, target, stride, trips):
    """Every warp takes the same walk: lane i goes from link to link and stores its last word."""
    near = cuda.shared.array(WORDS, np.uint32)
    t = np.uint32(cuda.threadIdx.x)
    for k in range(WORDS // THREADS):
        near[t + np.uint32(k * THREADS)] = links[t + np.uint32(k * THREADS)]
    cuda.syncthreads()
    at = stride * (t % np.uint32(BANKS))
    while trips > np.uint32(0):
        for _ in range(UNROLLED):
            at = near[at]
        trips = np.uint32(trips - np.uint32(1))
    target[np.uint32(cuda.grid(1))] = at


def run_1_strided(links: Array, target: Array, stride: int, steps: int) -> None:
    """``links``: WORDS uint32, each below WORDS. ``target``: uint32, a multiple of THREADS of them.

    ``stride``: 0 to 33 words. ``steps``: loads of a thread, a multiple of UNROLLED.
    """
    banks_1_strided[target.size // THREADS, THREADS](
        links, target, np.uint32(stride), np.uint32(steps // UNROLLED)
    )


def linked() -> np.ndarray:
    """Return links that stay in their bank: from each word 32 words on, at last to the first."""
    return ((np.arange(WORDS) + BANKS) % WORDS).astype(np.uint32)


def expected(threads: int, stride: int, steps: int) -> np.ndarray:
    """Return the end of each thread's walk through ``linked()``."""
    return (stride * (np.arange(threads) % BANKS) + BANKS * steps) % WORDS


def wavefronts(stride: int) -> int:
    """Return the passes over the banks for a full warp's load of 4-byte words ``stride`` apart.

    It is the maximum over banks of the number of different words addressed.
    """
    return gcd(stride, BANKS) if stride else 1


STEPS = (
    Step(
        "banks_1_strided",
        "lanes read words with a stride",
        run_1_strided,
        (
            Built(
                banks_1_strided,
                "uint32[::1], uint32[::1], uint32, uint32",
                THREADS,
                8,
                opcodes=("LDS",),
            ),
        ),
    ),
)
