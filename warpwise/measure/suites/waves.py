"""Waves: our float32 product in grids of exact sizes, and a library's at predicted cliffs.

Ours is ``sgemm_7_warp_tile``. Its C is one tile high and as many tiles wide as there are blocks, so
that each block does the same work. The library chooses its own kernel, which may have other tiles,
or share the last ones among all SMs: then there is no cliff.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from warpwise.devices import H200, Device
from warpwise.kernels import sgemm
from warpwise.kernels.sgemm.warp_tiles import STEPS
from warpwise.measure.case import Case
from warpwise.measure.place import Place
from warpwise.measure.products import (
    BF16,
    FP32,
    Numbers,
    by_libraries,
    by_ours,
    factors,
    matrices,
    random,
)
from warpwise.model.matmul import TILE
from warpwise.model.waves import Waves, tiles, waves

TITLE = "Waves: a block more than fits"
(STEP,) = STEPS
BLOCKS_PER_SM = STEP.built[0].blocks_per_sm
PARTS = 8  # of a wave, in which the grid grows
LARGEST, MOST_CLIFFS = 4160, 4  # of the library's products
BESIDE = (-128, -64, -8, -1, 0, 1, 8, 64, 128)  # measured sizes, relative to a cliff


def cases(place: Place) -> Iterator[Case]:
    depth, most = place.pick(full=(1024, 3), quick=(512, 2), rehearsal=(sgemm.DEPTH, 0))
    grids = grids_of(place.sms, most) if most else (1, 3)
    a = random(place, FP32, sgemm.SIDE * depth, seed=0)
    b = random(place, FP32, depth * sgemm.SIDE * max(grids), seed=1)
    for blocks in grids:
        yield ours(place, blocks, depth, a, b)
    del a, b
    largest = place.pick(full=LARGEST, quick=2304, rehearsal=0)
    beside = around_cliffs(place.sms, largest) if largest else {65: 64}
    numbers = factors(place, max(beside, default=0) ** 2)
    for n, cliff in beside.items():
        yield library(place, n, cliff, numbers)


# --- which sizes ---


def of_size(sms: int) -> Device:
    """Return a device with so many SMs, for models of waves."""
    return replace(H200, sms=sms)


def grids_of(sms: int, most: int) -> tuple[int, ...]:
    """Return our grids: up to ``most`` waves in steps of a part, and one block beyond each."""
    slots = BLOCKS_PER_SM * sms
    steps = {-(-slots * part // PARTS) for part in range(1, most * PARTS + 1)}
    return tuple(sorted(steps | {slots * w + 1 for w in range(1, most + 1)}))


def square_waves(n: int, sms: int) -> Waves:
    """Return the waves of a square product in the model's tiles, one to an SM."""
    return waves(tiles(n, n, *TILE).count, of_size(sms))


def cliffs(sms: int, largest: int) -> tuple[int, ...]:
    """Return each size below ``largest`` for which one more row and column add a wave."""
    counts = [square_waves(n, sms).count for n in range(1, largest + 1)]
    return tuple(n for n, (here, after) in enumerate(pairwise(counts), start=1) if after > here)


def around_cliffs(sms: int, largest: int) -> dict[int, int]:
    """Return size -> cliff for sizes beside the first cliffs, if the GPU has any."""
    near = cliffs(sms, largest)[:MOST_CLIFFS]
    return {cliff + beside: cliff for cliff in near for beside in BESIDE if cliff + beside > 0}


# --- what is run ---


def ours(place: Place, blocks: int, depth: int, a: Any, b: Any) -> Case:
    m, n = sgemm.SIDE, sgemm.SIDE * blocks
    a, b = a.reshape(m, depth), b[: depth * n].reshape(depth, n)
    grid = waves(blocks, of_size(place.sms), BLOCKS_PER_SM)
    return Case(
        f"{blocks} blocks",
        (by_ours(place, STEP, a, b),),
        want=lambda: place.xp.zeros(1),
        rtol=0,
        atol=1,
        flops=2 * m * n * depth,
        cold=False,
        parameters={
            "blocks": blocks,
            "slots": grid.slots,
            "waves": grid.count,
            "modelled_useful": grid.useful,
        },
    )


def library(place: Place, n: int, cliff: int, numbers: Numbers) -> Case:
    a, b = matrices(numbers, BF16, (n, n, n))
    grid = square_waves(n, place.sms)
    useful = grid.useful * tiles(n, n, *TILE).useful
    return Case(
        f"bf16 {n}",
        by_libraries(place, BF16, a, b),
        want=lambda: place.xp.zeros(1),
        rtol=0,
        atol=1,
        bytes=6 * n * n,
        flops=2 * n**3,
        cold=False,
        parameters={
            "n": n,
            "cliff": cliff,
            "beside": n - cliff,
            "waves": grid.count,
            "modelled_useful": useful,
        },
    )
