"""From what the microbenchmarks counted to a device's constants, as ``Card.with_measured`` takes.

Pure: it runs nothing. What a benchmark counted stands in the ``parameters`` of its row, under
``of`` what it is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

import numpy as np

WIDTHS = (32, 64, 128, 256)  #: bytes a clock that a path can have
#: A path is at least as wide as what was measured, but for what begins and ends cost.
NEARLY = 0.97
#: Clocks of a step of a chase that are not its load: the address, and to issue both.
ADDRESS_CLOCKS = 5.0


def constants_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the constants by their names in ``Card`` and ``Core``, as far as rows give them.

    ``..._measured``: the figures as they are, where a constant is the width above."""
    found: dict[str, float] = {}
    for row in rows:
        parameters = row["parameters"]
        if parameters.get("of") in REDUCED:
            found |= REDUCED[parameters["of"]](parameters)
    return found


def width_of(name: str, parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return a path's width. ``bytes``: of a block; ``clocks``: begin and end of its threads."""
    begins, ends = np.asarray(parameters["clocks"]).reshape(-1, 2).T
    clocks = float(ends.max() - begins.min())
    if clocks <= 0:  # the simulator has no clock
        return {}
    measured = parameters["bytes"] / clocks
    width = next((w for w in WIDTHS if measured * NEARLY <= w), WIDTHS[-1])
    return {name: width, f"{name}_measured": measured}


def latency_of(name: str, parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return a latency. ``clocks_per_step``: of a chase."""
    clocks = parameters["clocks_per_step"]
    return {name: clocks - ADDRESS_CLOCKS} if clocks else {}


def start_of(parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return the clocks from a block's end to the next one's start on its SM.

    ``clocks``: of each block the SM, its begin and its end."""
    gaps: list[int] = []
    blocks = np.asarray(parameters["clocks"]).reshape(-1, 3)
    for sm in np.unique(blocks[:, 0]):
        own = blocks[blocks[:, 0] == sm]
        own = own[own[:, 1].argsort()]
        gaps += (own[1:, 1] - own[:-1, 2]).tolist()
    # blocks that overlap did not wait for one another
    return {"start_clocks": float(median(gaps))} if any(gaps) and min(gaps) >= 0 else {}


def clock_of(parameters: Mapping[str, Any]) -> dict[str, float]:
    """Return the clock. ``clocks``: of each block the clocks and the nanoseconds that it took."""
    clocks, nanoseconds = np.asarray(parameters["clocks"], float).reshape(-1, 2).T
    some = nanoseconds > 0
    return {"ghz": float(np.median(clocks[some] / nanoseconds[some]))} if some.any() else {}


REDUCED = {
    "shared bytes": lambda p: width_of("shared_path", p),
    "L1 bytes": lambda p: width_of("l1_path", p),
    "shared latency": lambda p: latency_of("shared_latency", p),
    "L1 latency": lambda p: latency_of("l1_latency", p),
    "L2 latency": lambda p: latency_of("l2_latency", p),
    "DRAM latency": lambda p: latency_of("dram_latency", p),
    "DRAM latency under load": lambda p: latency_of("dram_latency_loaded", p),
    "start of a block": start_of,
    "clock under load": clock_of,
}
