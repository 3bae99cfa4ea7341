"""Bandwidth of a copy over its size: in the L2 cache first, then from memory."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.kernels import copy
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.place import Place

TITLE = "Copy bandwidth over size"
BARS = (Bar("plain copy", "copy 2^28 float32", "copy_*", "copy", 0.88, 0.97),)


def cases(place: Place) -> Iterator[Case]:
    for power in place.pick(full=range(12, 30), quick=range(12, 27, 2), rehearsal=(12,)):
        yield copied(place, power)


def copied(place: Place, power: int) -> Case:
    n = 2**power
    source, target = place.random(n), place.empty(n)
    return Case(
        f"copy 2^{power} float32",
        (
            *ours(copy.STEPS, (place.given(source), place.given(target)), lambda: target),
            Variant("cupy", "cupy", lambda: place.xp.copyto(target, source), lambda: target),
        ),
        want=lambda: source, rtol=0, atol=0, bytes=8 * n, parameters={"bytes": 4 * n}, cold=False,
    )  # fmt: skip
