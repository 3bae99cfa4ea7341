"""How long a load takes: one thread follows links through more and more memory, and then through shared memory.

Each run goes on where the last one ended. Where the cycle may fit into L2, all of it was gone through once before the first sample; where
it does not, L2 is emptied before each run, or what is left there of a part would be found. The kernel reads the multiprocessor's clock
too: ``clocks_per_step`` is the median of five runs that are no samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median

from warpwise.kernels import pointer_chase as chase
from warpwise.kernels.step import Step
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place
from warpwise.measure.timing import L2_TIMES

TITLE = "Latency of a load over the memory it runs through"
L1_BYTES = 256 * 1024  # of an SM, shared memory included (NVIDIA Hopper architecture whitepaper)


def cases(place: Place) -> Iterator[Case]:
    powers = place.pick(full=range(12, 33), quick=range(12, 29), rehearsal=(12, 13))
    for power in powers:
        yield through_memory(place, 2**power)
        if power < powers[-1] and not place.rehearsal:
            yield through_memory(place, 3 * 2 ** (power - 1))
    yield through_shared_memory(place)


def through_memory(place: Place, footprint: int) -> Case:
    lines = footprint // chase.LINE_BYTES
    steps = 4 * chase.UNROLLED if place.rehearsal else steps_of(place, footprint)
    fits = footprint <= 2 * place.l2_bytes
    name, warm = f"a cycle through {size(footprint)}", lines if fits else steps
    return chased(place, chase.STEPS[0], name, lines, chase.WORDS, steps, warm, {"bytes": footprint}, cold=not fits)


def through_shared_memory(place: Place) -> Case:
    """A link in every word; the copy of the links is part of a sample, and small beside the steps."""
    steps = place.pick(full=2**17, quick=2**15, rehearsal=4 * chase.UNROLLED)
    what = {"shared_bytes": 4 * chase.SHARED_WORDS}
    return chased(place, chase.STEPS[1], "a cycle through shared memory", chase.SHARED_WORDS, 1, steps, steps, what)


def steps_of(place: Place, footprint: int) -> int:
    """Steps that take some milliseconds, if a load takes tens of nanoseconds from L1 and hundreds from further on.

    A kernel begins with an empty L1, so a cycle that fits there is gone through often enough for the first round to count little.
    """
    return 2**18 if footprint <= L1_BYTES else 2**14 if footprint <= place.l2_bytes else 2**12


def chased(
    place: Place, step: Step, name: str, lines: int, words: int, steps: int, warm: int, parameters: dict[str, int], cold: bool = False
) -> Case:
    """``words``: from one link to the next. ``warm``: steps taken before anything is measured."""
    order = chase.cycle(lines)
    links, ends, clocks = chase.linked(place.xp, order, words), place.xp.zeros(2, "uint32"), place.xp.zeros(1, "int64")
    arrays = place.given(ends), place.given(clocks)
    step.run(place.given(links), -(-warm // chase.UNROLLED) * chase.UNROLLED, *arrays)
    run = partial(step.run, place.given(links), steps, *arrays)
    return Case(
        name,
        (Variant(step.name, "numba", run, lambda: [chase.walked(order, *(int(at) // words for at in place.host(ends)))], note=step.idea),),
        want=lambda: [steps % lines], rtol=0, atol=0, steps=steps, cold=cold,
        parameters={**parameters, "clocks_per_step": median(clocks_of(place, run, clocks, cold) for _ in range(5)) / steps},
    )  # fmt: skip


def clocks_of(place: Place, run, clocks, cold: bool) -> int:
    if cold and not place.rehearsal:
        place.xp.zeros(L2_TIMES * place.l2_bytes, "uint8")  # fills L2 with other lines
    run()
    return int(place.host(clocks)[0])


def size(count: int) -> str:
    """96 KB, 1536 KB, 2 MB: in the largest unit that leaves no fraction."""
    for unit in ("bytes", "KB", "MB"):
        if count % 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} GB"
