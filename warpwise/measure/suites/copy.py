"""Bandwidth of a copy over its size: in the L2 cache at first, then from memory."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.measure.case import Bar, Case
from warpwise.measure.ceilings import largest_copy
from warpwise.measure.place import Place

TITLE = "Copy bandwidth over size"
BARS = (Bar("plain copy", "copy 2^28 float32", "copy_1_*", "copy", 0.88, 0.97),)


def cases(place: Place) -> Iterator[Case]:
    for power in place.pick(full=range(12, 29), quick=range(12, 27, 2), rehearsal=range(12, 13)):
        yield largest_copy(place, power)
