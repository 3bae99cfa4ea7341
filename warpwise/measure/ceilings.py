"""What this device does at best, measured in the same run as what is held against it: bytes of a large copy, and float32 operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from warpwise.kernels import copy, ffma
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place
from warpwise.measure.resident import resident_blocks


def cases(place: Place) -> Iterator[Case]:
    """``parameters["kind"]`` says which ceiling a case is: "copy" or "ffma"."""
    yield largest_copy(place, place.pick(full=28, quick=25, rehearsal=12))
    yield most_multiply_adds(place)


def largest_copy(place: Place, power: int) -> Case:
    """Our copies, and the driver's own from device to device."""
    n = 2**power
    source = place.random(n)
    return Case(
        f"copy 2^{power} float32",
        (*(copied(place, step.name, "numba", source, step.run, step.idea) for step in copy.STEPS), memcpy(place, source)),
        want=lambda: place.xp.zeros(1), rtol=0, atol=0, bytes=8 * n, parameters={"kind": "copy", "bytes": 4 * n}, cold=False,
    )  # fmt: skip


def copied(place: Place, name: str, by: str, source, run: Callable, note: str) -> Variant:
    """Each has a target of its own. The result is how many elements are wrong, counted on the device: they are many."""
    target = place.empty(source.size)
    moved = partial(run, place.given(source), place.given(target)) if by == "numba" else partial(run, source, target)
    return Variant(name, by, moved, lambda: place.xp.count_nonzero(target != source), note=note)


def memcpy(place: Place, source) -> Variant:
    """What CuPy calls for two arrays that lie alike."""
    return copied(place, "cupy", "cupy", source, lambda source, target: place.xp.copyto(target, source), "cudaMemcpy, device to device")


def most_multiply_adds(place: Place) -> Case:
    """As many threads as the GPU holds at once. Rounding adds up over thousands of turns, so the comparison leaves room for it."""
    step = ffma.STEPS[0]
    threads = (2 if place.rehearsal else resident_blocks(place, ffma.THREADS)) * ffma.THREADS
    trips = place.pick(full=2048, quick=512, rehearsal=2)
    start, target = place.random(threads), place.empty(threads)
    turns = place.xp.full(threads, ffma.TURN, "float32")
    return Case(
        "multiply-adds of float32",
        (Variant(step.name, "numba", partial(step.run, *map(place.given, (start, turns, target)), trips), lambda: target, note=step.idea),),
        want=lambda: ffma.expected(place.host(start), trips), rtol=0, atol=0.005, flops=ffma.flops(threads, trips),
        parameters={"kind": "ffma"}, cold=False,
    )  # fmt: skip
