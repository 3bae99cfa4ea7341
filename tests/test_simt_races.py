"""Races against brute force: random accesses, masks and barriers, of which every pair is looked at."""

import numpy as np
import pytest

from warpwise import trace
from warpwise.simt import kernels_in

BLOCKS, THREADS, ELEMENTS = 3, 8, 12


def random_program(rng, by_block: bool):
    """Steps of (kind, index, active), each ``(blocks, threads)``; the same for all blocks unless ``by_block``."""
    steps = []
    for _ in range(rng.integers(2, 6)):
        kind = rng.choice(["read", "write", "barrier"], p=[0.45, 0.35, 0.2])
        shape = (BLOCKS if by_block else 1, THREADS)
        index = rng.integers(0, ELEMENTS, shape) if rng.random() < 0.6 else np.arange(THREADS)[None, :] + rng.integers(0, 3)
        active = rng.random((shape[0], 1) if kind == "barrier" else shape) < rng.choice([0.15, 0.4, 1.0])
        if kind == "barrier" and not by_block:
            active = np.ones((1, 1), bool)
        steps.append((kind, np.broadcast_to(index, (BLOCKS, THREADS)), np.broadcast_to(active, (BLOCKS, THREADS))))
    return steps


def races_by_brute_force(steps) -> bool:
    since = [[[] for _ in range(ELEMENTS)] for _ in range(BLOCKS)]
    for kind, index, active in steps:
        if kind == "barrier":
            since = [[[] for _ in range(ELEMENTS)] if passed else seen for passed, seen in zip(active[:, 0], since, strict=True)]
            continue
        for block, thread in zip(*np.nonzero(active), strict=True):
            seen = since[block][index[block, thread]]
            if any(t != thread and (w or kind == "write") for t, w in seen):
                return True
            seen.append((thread, kind == "write"))
    return False


BRUTE_FORCE_HEAD = f"""
from numba import cuda, int64
@cuda.jit
def kernel(index, active, out):
    s = cuda.shared.array({ELEMENTS}, int64)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        for k in range({ELEMENTS}):
            s[k] = 0
    cuda.syncthreads()"""


def races_here(steps, by_block: bool) -> bool:
    at = "t, b" if by_block else "t"  # without b, neither index nor mask depends on the block
    lines = [BRUTE_FORCE_HEAD]
    for k, (kind, _, _) in enumerate(steps):
        place = f"s[index[{k}, {at}]]"
        does = {"barrier": "cuda.syncthreads()", "write": f"{place} = t", "read": f"out[b, t] = {place}"}[kind]
        lines += [f"    if active[{k}, {at}]:", f"        {does}"]
    index, active = (np.array([s[i].T if by_block else s[i][0] for s in steps]) for i in (1, 2))
    kernel = kernels_in("\n".join(lines))["kernel"]
    return bool(trace(kernel, BLOCKS, THREADS, index, active, np.zeros((BLOCKS, THREADS), np.int64), record=()).races)


@pytest.mark.parametrize("by_block", [False, True], ids=["alike in all blocks", "by block"])
def test_random_programs_race_where_brute_force_says_so(by_block):
    rng = np.random.default_rng(8)
    found = []
    for _ in range(400):
        steps = random_program(rng, by_block)
        expected = races_by_brute_force(steps)
        assert races_here(steps, by_block) == expected, [s[0] for s in steps]
        found.append(expected)
    assert 100 < sum(found) < 300, "the programs should be of both sorts"
