"""Timelines of the warps widget: an SM with 1 to 32 warps, each with 1, 2 or 4 loads under way.

``python -m warpwise.stopwatch.switching`` compiles the three kernels for an H100, runs them on the
modelled SM, and writes what their warps do into ``views/warps.json``, so that a page shows it
without a compiler. A loop's next load waits until the sum is looked at: else a compiler would make
several rounds of one, and one load would be four."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from warpwise import cuda, trace
from warpwise.stopwatch.clock import time
from warpwise.views.warps import DEVICE, LOADS, STORED, WARPS

# mypy: allow-untyped-defs
SMS = 132  #: of DEVICE
ROUNDS = 32  #: of loads that are waited for, in each kernel
CLOCKS = 900  #: of each timeline
MOST = np.float32(1e30)


@cuda.jit
def polynomial(x):
    p = x
    for _ in range(48):
        p = p * x + x
    return p


@cuda.jit
def one_load(x, sums):
    i, step = np.uint32(cuda.grid(1)), np.uint32(cuda.gridsize(1))
    total = np.float32(0)
    while i < x.size and total < MOST:
        a = x[i]
        total += polynomial(a)
        i = np.uint32(i + step)
    sums[cuda.grid(1)] = total


@cuda.jit
def two_loads(x, sums):
    i, step = np.uint32(cuda.grid(1)), np.uint32(cuda.gridsize(1))
    total = np.float32(0)
    while i < x.size and total < MOST:
        a = x[i]
        i = np.uint32(i + step)
        b = x[i]
        i = np.uint32(i + step)
        total += polynomial(a) + polynomial(b)
    sums[cuda.grid(1)] = total


@cuda.jit
def four_loads(x, sums):
    i, step = np.uint32(cuda.grid(1)), np.uint32(cuda.gridsize(1))
    total = np.float32(0)
    while i < x.size and total < MOST:
        a = x[i]
        i = np.uint32(i + step)
        b = x[i]
        i = np.uint32(i + step)
        c = x[i]
        i = np.uint32(i + step)
        d = x[i]
        i = np.uint32(i + step)
        total += polynomial(a) + polynomial(b) + (polynomial(c) + polynomial(d))
    sums[cuda.grid(1)] = total


KERNELS = dict(zip(LOADS, (one_load, two_loads, four_loads), strict=True))
ALL = tuple((warps, loads) for warps in WARPS for loads in LOADS)


def timelines(of: Iterable[tuple[int, int]] = ALL) -> dict[str, Any]:
    """Return the timelines by warps and loads, as in "8 2", each packed from its clock 0 on."""
    return {f"{warps} {loads}": _packed(warps, loads) for warps, loads in of}


def _packed(warps: int, loads: int) -> dict[str, Any]:
    """Return what the warps of one block do, with a block like it on each SM."""
    threads = 32 * warps
    arrays = (np.zeros(n * threads, np.float32) for n in (ROUNDS * loads, 1))
    made = trace(KERNELS[loads], 1, threads, *arrays, sanitize=False)
    found = time(made, DEVICE, SMS).timeline
    assert found is not None
    packed = found.cut(CLOCKS).packed()
    return packed | {"first": 0, "lines": [["", text] for _, text in packed["lines"]]}


if __name__ == "__main__":
    Path(str(STORED)).write_text(
        json.dumps(timelines(), separators=(",", ":")) + "\n", encoding="utf-8"
    )
