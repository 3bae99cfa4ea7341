"""A device's measured ceilings, in the same run as the suites: bytes copied and float32 FLOP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from warpwise.kernels import copy, ffma
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place


def cases(place: Place) -> Iterator[Case]:
    """Yield a case for each ceiling; ``parameters["kind"]`` is "copy" or "ffma"."""
    yield largest_copy(place, place.pick(full=28, quick=25, rehearsal=12))
    yield most_multiply_adds(place)


def largest_copy(place: Place, power: int) -> Case:
    """Return the case of our copies and the driver's own, from device to device."""
    n = 2**power
    source = place.random(n)
    ours = [copied(place, step.name, "numba", source, step.run, step.idea) for step in copy.STEPS]
    return Case(
        f"copy 2^{power} float32",
        (*ours, memcpy(place, source)),
        want=lambda: place.xp.zeros(1),
        rtol=0,
        atol=0,
        bytes=8 * n,
        parameters={"kind": "copy", "bytes": 4 * n},
        cold=False,
    )


def copied(
    place: Place, name: str, by: str, source: Any, run: Callable[..., object], note: str
) -> Variant:
    """Return a copy into a target of its own; its result is the number of wrong elements.

    They are counted on the device because there are many.
    """
    target = place.empty(source.size)
    arrays = (source, target) if by != "numba" else map(place.given, (source, target))
    return Variant(
        name, by, partial(run, *arrays), lambda: place.xp.count_nonzero(target != source), note=note
    )


def memcpy(place: Place, source: Any) -> Variant:
    """Return CuPy's copy of a contiguous array."""

    def run(source: Any, target: Any) -> None:
        place.xp.copyto(target, source)

    return copied(place, "cupy", "cupy", source, run, "cudaMemcpy, device to device")


def most_multiply_adds(place: Place) -> Case:
    """Return the case of multiply-adds by as many threads as the GPU holds at once.

    Rounding errors add up over thousands of iterations, for which the tolerance leaves room.
    """
    step = ffma.STEPS[0]
    threads = (2 if place.small else place.resident_blocks(ffma.THREADS)) * ffma.THREADS
    trips = place.pick(full=2048, quick=512, rehearsal=2)
    start, target = place.random(threads), place.empty(threads)
    turns = place.xp.full(threads, ffma.TURN, "float32")
    run = partial(step.run, *map(place.given, (start, turns, target)), trips)
    return Case(
        "multiply-adds of float32",
        (Variant(step.name, "numba", run, lambda: target, note=step.idea),),
        want=lambda: ffma.expected(place.host(start), trips),
        rtol=0,
        atol=0.005,
        flops=ffma.flops(threads, trips),
        parameters={"kind": "ffma"},
        cold=False,
    )
