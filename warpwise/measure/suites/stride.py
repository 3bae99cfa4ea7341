"""Bandwidth of useful bytes of strided reads, for elements of 2, 4, 8 and 16 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from warpwise.kernels import strides
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place

TITLE = "Strided reads: bandwidth of useful bytes"
WIDTHS = {2: "float16", 4: "float32", 8: "float64", 16: "four float32"}
QUAD = 16  # bytes of four float32, which one thread moves at once
FULL = {
    4: (*range(1, 17), 20, 24, 28, 31, 32, 33, 40),
    2: (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32),
    8: (1, 2, 3, 4, 6, 8, 12, 16),
    QUAD: (1, 2, 3, 4, 6, 8),
}


def cases(place: Place) -> Iterator[Case]:
    quick, rehearsal = dict.fromkeys(FULL, (1, 2, 4, 8, 16)), dict.fromkeys(FULL, (1, 3, 8))
    source: Any
    for width, some in place.pick(full=FULL, quick=quick, rehearsal=rehearsal).items():
        source, size = None, max(some) * target_bytes(place)  # frees the previous one first
        item = ("float32", 4) if width == QUAD else (WIDTHS[width], width)
        source = place.random(size // item[1], item[0])
        for stride in some:
            yield strided(place, source, width, stride)


def target_bytes(place: Place) -> int:
    """Return the size of all results; reads span ``stride`` times as much."""
    return place.pick(full=2**27, quick=2**23, rehearsal=2**12)


def strided(place: Place, source: Any, width: int, stride: int) -> Case:
    """Return one stride; ``modelled_bytes``: sectors that warps read, and elements they write."""
    count = target_bytes(place) // width
    target = place.empty(target_bytes(place) // source.itemsize, source.dtype)
    step, sectors = strides.STEPS[width == QUAD], strides.sectors(width, stride)
    name = f"{step.name}, {WIDTHS[width]}" if width in (2, 8) else step.name
    run = partial(step.run, place.given(source), place.given(target), stride)
    result = partial(different, place, source, target, stride, width // source.itemsize)
    of_warp = strides.SECTOR_BYTES * sectors + strides.WARP * width
    return Case(
        f"stride {stride} of {WIDTHS[width]}",
        (Variant(name, "numba", run, result, note=step.idea),),
        want=lambda: place.xp.zeros(1),
        rtol=0,
        atol=0,
        bytes=2 * width * count,
        parameters={
            "stride": stride,
            "width": width,
            "sectors": sectors,
            "modelled_bytes": count // strides.WARP * of_warp,
        },
    )


def different(place: Place, source: Any, target: Any, stride: int, numbers: int) -> Any:
    """Count the wrong numbers of the result on the device; ``numbers``: of an element."""
    wanted = source.reshape(-1, numbers)[::stride][: target.size // numbers]
    return place.xp.count_nonzero(target.reshape(-1, numbers) != wanted)
