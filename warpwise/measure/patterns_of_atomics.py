"""Atomics by how many lanes name one address, for the comparison of counters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpwise import cuda
from warpwise.measure.patterns import Pattern, numbers


@cuda.jit
def count_global(index, out):
    cuda.atomic.add(out, index[cuda.grid(1)], 1)


@cuda.jit
def add_global(index, src, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, index[i], src[i])


@cuda.jit
def tickets_global(index, counts, out):
    """The old value is used, so that the instruction returns one."""
    i = cuda.grid(1)
    out[i] = cuda.atomic.add(counts, index[i], 0)


@cuda.jit
def count_shared(index, out):
    s = cuda.shared.array(1024, np.int32)
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, index[t], 1)
    cuda.syncthreads()
    out[t] = s[t]


INDICES = {
    "all to one": np.zeros(128, np.int32),
    "each its own": np.arange(128, dtype=np.int32),
    "two to each": np.arange(128, dtype=np.int32) // 2,
    "eight to each": np.arange(128, dtype=np.int32) // 8,
    "one of four": np.arange(128, dtype=np.int32) % 4,
    "eight apart": np.arange(128, dtype=np.int32) * 8 % 1024,
    "of 16 at random": np.random.default_rng(2).integers(0, 16, 128).astype(np.int32),
}


def of_atomics() -> Iterator[Pattern]:
    for name, index in INDICES.items():
        counts, src = np.bincount(index, minlength=1024).astype(np.int32), numbers(np.float32, 128)
        sums = np.bincount(index, src, minlength=1024).astype(np.float32)
        zeros = np.zeros(1024, np.int32)
        yield Pattern(f"count_global, {name}", count_global, 1, 128, (index, zeros), counts)
        args = index, src, zeros.astype(np.float32)
        yield Pattern(f"add_global, {name}", add_global, 1, 128, args, sums)
        held = numbers(np.int32, 1024), np.zeros(128, np.int32)
        want = held[0][index]
        yield Pattern(f"tickets_global, {name}", tickets_global, 1, 128, (index, *held), want)
        if index.max() < 128:
            out = np.zeros(128, np.int32)
            yield Pattern(f"count_shared, {name}", count_shared, 1, 128, (index, out), counts[:128])
