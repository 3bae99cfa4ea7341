"""Bank conflicts: the time of a warp's load from shared memory over its lanes' stride."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warpwise.kernels import banks
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place

TITLE = "Shared memory: time of a load over the stride"


def cases(place: Place) -> Iterator[Case]:
    quick, rehearsal = (0, 1, 2, 3, 4, 8, 16, 31, 32, 33), (0, 1, 6, 32, 33)
    for stride in place.pick(full=tuple(range(34)), quick=quick, rehearsal=rehearsal):
        yield strided(place, stride)


def strided(place: Place, stride: int) -> Case:
    """Return one stride, with as many threads as the GPU holds at once.

    The parameter ``wavefronts`` is modelled: the passes of one warp's load.
    """
    threads = (3 if place.small else place.resident_blocks(banks.THREADS)) * banks.THREADS
    steps = place.pick(full=4096, quick=512, rehearsal=2 * banks.UNROLLED)
    links, target = place.array(banks.linked()), place.empty(threads, "uint32")
    step = banks.STEPS[0]
    run = partial(step.run, place.given(links), place.given(target), stride, steps)
    return Case(
        f"stride {stride} words",
        (Variant(step.name, "numba", run, lambda: target),),
        want=lambda: banks.expected(threads, stride, steps),
        rtol=0,
        atol=0,
        steps=steps,
        cold=False,
        parameters={"stride": stride, "wavefronts": banks.wavefronts(stride)},
    )
