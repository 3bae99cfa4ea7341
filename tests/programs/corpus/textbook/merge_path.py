"""Two sorted arrays are merged: each thread finds its part by bisection, and merges slices."""

import numpy as np

from warpwise import cuda

rng = np.random.default_rng(3)

EACH = 6


@cuda.jit(device=True)
def taken_from_first(first, second, rank):
    """How many of the first ``rank`` numbers of the merged array come from ``first``."""
    low = max(0, rank - second.size)
    high = min(rank, first.size)
    while low < high:
        middle = (low + high) // 2
        if first[middle] <= second[rank - middle - 1]:
            low = middle + 1
        else:
            high = middle
    return low


@cuda.jit(device=True)
def merge_slices(first, second, merged):
    a = b = 0
    for k in range(merged.size):
        if b == second.size or (a < first.size and first[a] <= second[b]):
            merged[k] = first[a]
            a += 1
        else:
            merged[k] = second[b]
            b += 1


@cuda.jit
def merge(first, second, merged):
    start = cuda.grid(1) * EACH
    if start < merged.size:
        stop = min(start + EACH, merged.size)
        a0, a1 = taken_from_first(first, second, start), taken_from_first(first, second, stop)
        merge_slices(first[a0:a1], second[start - a0 : stop - a1], merged[start:stop])


def check():
    first, second = np.sort(rng.integers(0, 50, 77)), np.sort(rng.integers(0, 50, 131))
    merged = np.zeros(208, np.int64)
    merge[2, 32](first, second, merged)
    assert (merged == np.sort(np.r_[first, second])).all()
