"""The ladder and the puzzle of lab 9: what they show of the solutions, and a way to the goal."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.lab_cases import names_of, visible_cases

from warpwise import cuda, trace
from warpwise.devices import A100
from warpwise.labs.judge import judge
from warpwise.labs.ladder import slowest
from warpwise.labs.source import load_lab, role
from warpwise.traces import Trace

STEM = "09_tiling"


@cuda.jit
def fast_product(a, b, c):
    """A block of 8 x 8 threads makes 64 x 64 results, 8 x 8 to a thread."""
    tile_a = cuda.shared.array((64, 8), np.float32)
    tile_b = cuda.shared.array((8, 64), np.float32)
    sums = cuda.local.array((8, 8), np.float32)
    of_a = cuda.local.array(8, np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    for i in range(8):
        for j in range(8):
            sums[i, j] = 0
    for start in range(0, a.shape[1], 8):
        for n in range(8):
            row, k = top + y + 8 * n, start + x
            inside = row < a.shape[0] and k < a.shape[1]
            tile_a[y + 8 * n, x] = a[row, k] if inside else np.float32(0)
            k, col = start + n, left + 8 * y + x
            inside = k < b.shape[0] and col < b.shape[1]
            tile_b[n, 8 * y + x] = b[k, col] if inside else np.float32(0)
        cuda.syncthreads()
        for k in range(8):
            for i in range(8):
                of_a[i] = tile_a[y + 8 * i, k]
            for j in range(8):
                of_b = tile_b[k, x + 8 * j]
                for i in range(8):
                    sums[i, j] += of_a[i] * of_b
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            row, col = top + y + 8 * i, left + x + 8 * j
            if row < c.shape[0] and col < c.shape[1]:
                c[row, col] = sums[i, j]


def text() -> str:
    return "\n".join(cell.source for cell in load_lab(STEM).cells)


def first_traces() -> dict[str, Trace]:
    """Exercise -> the trace of its solution's first visible launch, as the ladder gets it."""
    return {id: judge(names_of(STEM)[id], c[:1])[-1].trace for id, c in visible_cases(STEM).items()}


def test_all_steps_of_the_ladder_compute_the_same_product():
    side = names_of(STEM)["SIDE"]
    for id, (first, *_) in visible_cases(STEM).items():
        shapes = [np.shape(arg) for arg in first.args[:2]]
        assert shapes == [(side, side), (side, side)], id


def test_every_check_of_the_lab_fills_the_ladder():
    checks = [cell.source for cell in load_lab(STEM).cells if role(cell) == "check"]
    assert len(checks) == 6 and all("board=ladder)" in source for source in checks)


@pytest.mark.slow
def test_the_ladder_shows_which_steps_pay():
    """Tiles and patches do; neither another shape nor a second pair does, in this model."""
    found = {id: slowest(t.metrics, A100) for id, t in first_traces().items()}
    times = {id.removeprefix("matmul_"): seconds for id, (seconds, _) in found.items()}
    assert times["coalesced"] > 5 * times["tiled"]
    assert times["rectangular"] >= times["tiled"] > times["column"] > times["patch"]
    assert times["double"] >= times["tiled"]
    limits = {id.removeprefix("matmul_"): limiter for id, (_, limiter) in found.items()}
    assert (limits["coalesced"], limits["tiled"]) == ("DRAM", "shared memory")


@pytest.mark.slow
def test_the_puzzle_is_out_of_reach_for_the_patch_and_can_be_solved():
    goal = float(re.search(r"Attempts\(A100, ([\d.e-]+)", text())[1])
    told = re.search(r"`matmul_patch` takes (\d+) ns, and (\w+) sets its time", text())
    assert re.search(rf"Get to {goal * 1e9:.0f} ns", text())
    seconds, limiter = slowest(of(names_of(STEM)["matmul_patch"], 32).metrics, A100)
    assert (f"{seconds * 1e9:.0f}", limiter) == told.groups() and seconds > goal
    assert slowest(of(fast_product, 64).metrics, A100)[0] <= goal
    launch: Callable[..., Any] = names_of(STEM)["launch"]
    sizes = [(128, 128, 128), (45, 19, 50), (5, 3, 18)]
    cases = [launch(*size, 64, 64, (8, 8)) for size in sizes]
    assert judge(fast_product, cases)[-1].reason == "passed"


def of(kernel: Any, side: int) -> Trace:
    """Trace the puzzle's product: 8 x 8 threads in a block, ``side`` x ``side`` results."""
    rng = np.random.default_rng(9)
    a, b = rng.random((2, 128, 128), dtype=np.float32)
    blocks = (128 // side, 128 // side)
    return trace(kernel, blocks, (8, 8), a, b, np.zeros((128, 128), np.float32), record=())
