"""Divergence: time over the number of paths, chosen by each lane or by each warp."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warpwise.kernels import divergence
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place

TITLE = "Divergence: time over the ways of a warp"
FULL = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32)


def cases(place: Place) -> Iterator[Case]:
    for paths in place.pick(full=FULL, quick=(1, 2, 4, 8, 16, 32), rehearsal=(1, 3, 32)):
        yield divided(place, paths, lanes=True)
        yield divided(place, paths, lanes=False)


def divided(place: Place, paths: int, lanes: bool) -> Case:
    """Return one number of paths, with as many threads as the GPU holds at once.

    The parameter ``efficiency`` is modelled: the share of a warp's lanes that are active.
    """
    blocks = 5 if place.small else place.resident_blocks(divergence.THREADS)
    threads = blocks * divergence.THREADS
    steps = place.pick(full=4096, quick=1024, rehearsal=2 * divergence.UNROLLED)
    start, target = place.random(threads), place.empty(threads)
    step = divergence.STEPS[0 if lanes else 1]
    run = partial(step.run, place.given(start), place.given(target), paths, steps)
    together = 1 if lanes else divergence.WARP  # lanes that choose the same path
    return Case(
        f"{paths} {'way' if paths == 1 else 'ways'}, {'lanes' if lanes else 'warps'} choose",
        (Variant(step.name, "numba", run, lambda: target, note=step.idea),),
        want=lambda: divergence.expected(place.xp, start, paths, steps, together),
        flops=divergence.flops(threads, steps),
        cold=False,
        parameters={"paths": paths, "efficiency": 1 / paths if lanes else 1.0},
    )
