"""Latency of a load: one thread follows links through ever more memory, then shared memory.

Each run continues where the last one ended. A cycle that may fit into L2 is traversed once before
the first sample; for a larger one L2 is flushed before each run, or loads would hit remains of it.
The kernel reads the multiprocessor's clock too: ``clocks_per_step`` is the median of five runs that
are not samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

from warpwise.kernels import pointer_chase as chase
from warpwise.kernels.step import Step
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place
from warpwise.measure.timing import L2_TIMES

TITLE = "Latency of a load over the memory it runs through"
L1_BYTES = 256 * 1024  # of an SM, shared memory included (NVIDIA Hopper architecture whitepaper)


def cases(place: Place) -> Iterator[Case]:
    powers = place.pick(full=range(12, 33), quick=range(12, 29), rehearsal=range(12, 14))
    for power in powers:
        yield through_memory(place, 2**power)
        if power < powers[-1] and not place.small:
            yield through_memory(place, 3 * 2 ** (power - 1))
    yield through_shared_memory(place)


def through_memory(place: Place, footprint: int) -> Case:
    lines = footprint // chase.LINE_BYTES
    steps = 4 * chase.UNROLLED if place.small else steps_of(place, footprint)
    fits = footprint <= 2 * place.l2_bytes
    name, cycle = f"a cycle through {size(footprint)}", (lines, chase.WORDS)
    counts, parameters = (steps, lines if fits else steps), {"bytes": footprint}
    return chased(place, chase.STEPS[0], name, *cycle, *counts, parameters, cold=not fits)


def through_shared_memory(place: Place) -> Case:
    """Return a cycle with a link in every word.

    A sample includes the copy of the links, which is short beside the steps.
    """
    steps = place.pick(full=2**17, quick=2**15, rehearsal=4 * chase.UNROLLED)
    name, parameters = "a cycle through shared memory", {"shared_bytes": 4 * chase.SHARED_WORDS}
    return chased(place, chase.STEPS[1], name, chase.SHARED_WORDS, 1, steps, steps, parameters)


def steps_of(place: Place, footprint: int) -> int:
    """Return steps for some milliseconds, at tens of nanoseconds from L1 and hundreds beyond.

    A kernel begins with an empty L1, so a cycle that fits there is traversed often enough for the
    first round to matter little.
    """
    return 2**18 if footprint <= L1_BYTES else 2**14 if footprint <= place.l2_bytes else 2**12


def chased(
    place: Place,
    step: Step,
    name: str,
    lines: int,
    words: int,
    steps: int,
    warm: int,
    parameters: dict[str, int],
    cold: bool = False,
) -> Case:
    """Return one cycle. ``words``: from link to link. ``warm``: steps before any measurement."""
    order = chase.cycle(lines)
    links = place.given(chase.linked(place.xp, order, words))
    ends, clocks = place.xp.zeros(2, "uint32"), place.xp.zeros(1, "int64")
    arrays = place.given(ends), place.given(clocks)
    step.run(links, -(-warm // chase.UNROLLED) * chase.UNROLLED, *arrays)
    run = partial(step.run, links, steps, *arrays)

    def walked() -> list[int]:
        return [chase.walked(order, *(int(at) // words for at in place.host(ends)))]

    counted = median(clocks_of(place, run, clocks, cold) for _ in range(5))
    return Case(
        name,
        (Variant(step.name, "numba", run, walked, note=step.idea),),
        want=lambda: [steps % lines],
        rtol=0,
        atol=0,
        steps=steps,
        cold=cold,
        parameters={**parameters, "clocks_per_step": counted / steps},
    )


def clocks_of(place: Place, run: Callable[[], object], clocks: Any, cold: bool) -> int:
    """Return the clocks that one run counts."""
    if cold and not place.rehearsal:
        place.xp.zeros(L2_TIMES * place.l2_bytes, "uint8")  # fills L2 with other lines
    run()
    return int(place.host(clocks)[0])


def size(count: int) -> str:
    """Return 96 KiB, 1536 KiB or 2 MiB: the largest unit without a fraction."""
    for unit in ("bytes", "KiB", "MiB"):
        if count % 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} GiB"
