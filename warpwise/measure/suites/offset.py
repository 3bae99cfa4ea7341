"""Bandwidth of a copy from a source that is not aligned to sectors, over its offset."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from warpwise.kernels import strides
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place

TITLE = "Shifted reads: bandwidth of a copy"
FULL = (*range(17), 20, 24, 28, 31, 32)


def cases(place: Place) -> Iterator[Case]:
    n = place.pick(full=2**26, quick=2**22, rehearsal=2**10)
    source = place.random(n + max(FULL))
    for offset in place.pick(full=FULL, quick=(0, 1, 2, 4, 7, 8, 16, 31, 32), rehearsal=(0, 1, 8)):
        yield shifted(place, source, n, offset)


def shifted(place: Place, source: Any, n: int, offset: int) -> Case:
    step, target = strides.STEPS[0], place.empty(n)
    run = partial(step.run, place.given(source), place.given(target), 1, offset)
    note = "neighbouring lanes read neighbouring elements"

    def wrong() -> Any:
        return place.xp.count_nonzero(target != source[offset : offset + n])

    return Case(
        f"copy shifted by {offset} float32",
        (Variant(step.name, "numba", run, wrong, note=note),),
        want=lambda: place.xp.zeros(1),
        rtol=0,
        atol=0,
        bytes=8 * n,
        parameters={"offset": offset, "sectors": strides.sectors(4, 1, offset)},
    )
