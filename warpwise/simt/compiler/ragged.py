"""Counting the tests of loops whose number of trips differs between the lanes of a warp.

A warp counts the same whether the bounds are one number for all lanes, or one for each lane that
all happen to be equal. Otherwise the counters would depend on which blocks run together."""

from __future__ import annotations

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.compiler.closures import Charge
from warpwise.simt.lanes.masks import Mask, join, split
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import Value

_MANY = np.iinfo(np.int64).max


def in_ragged_warps(mask: Mask, first: Value, end: Value, by: Value) -> Value:
    """Find the lanes of warps whose active lanes make different numbers of trips; False if none."""
    trips = np.maximum((end - first + by - np.sign(by)) // by, 0)
    group = mask.group
    if trips.shape[1] != group.threads or group.threads == 1:
        return False  # the same in all lanes of a warp
    lanes = group.filled if mask.lanes is None else mask.lanes
    most, least = (
        (trips, trips)
        if lanes is None
        else (np.where(lanes, trips, -1), np.where(lanes, trips, _MANY))
    )
    starts = np.arange(0, group.threads, WARP_SIZE, dtype=np.intp)
    ragged = np.maximum.reduceat(most, starts, axis=1) > np.minimum.reduceat(least, starts, axis=1)
    return np.repeat(ragged, WARP_SIZE, axis=1)[:, : group.threads] if ragged.any() else False


def count_test(
    frame: Frame, each: Charge, line: int, go: Mask | None, left: Mask | None, ragged: Value
) -> None:
    """Count the test before a trip.

    Where lanes of a warp leave at different times it is a branch, and the lanes that leave had a
    test too. ``go``, ``left``: the lanes that make a trip and those that make none; ``ragged``: see
    ``in_ragged_warps``."""
    out = None if left is None else split(left, ragged)[0]
    tested = join(go, out)
    if tested is None:
        return
    each(frame, tested)
    branching = split(tested, ragged)[0]
    if branching is not None:
        frame.batch.branch(line, branching, None if go is None else split(go, ragged)[0], out)
