"""The stopwatch's constants: five microbenchmarks, and what they say of this GPU.

Widths of shared memory and L1, latencies by chases, the start of a block, DRAM's latency while all
others copy, and the clock under load. The record's ``constants`` go with the published ones:
``warpwise.stopwatch.find(NAME, measured=FILE)``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from warpwise.kernels import ffma
from warpwise.kernels import pointer_chase as chase
from warpwise.measure import micro
from warpwise.measure.case import Case, Variant
from warpwise.measure.constants import constants_of
from warpwise.measure.place import Place
from warpwise.measure.suites.latency import chased, size, through_shared_memory

TITLE = "The stopwatch's constants: widths, latencies, the start of a block, the clock"
L1_FOOTPRINT = 2**14
reduced = constants_of


def cases(place: Place) -> Iterator[Case]:
    yield wide(place, "shared bytes", micro.STEPS[0])
    yield wide(place, "L1 bytes", micro.STEPS[1])
    yield named(through_shared_memory(place), "shared latency")
    yield through(place, "L1 latency", L1_FOOTPRINT, 2**18)
    yield through(place, "L2 latency", place.pick(place.l2_bytes // 8, 2**22, 2**13), 2**16)
    yield through(place, "DRAM latency", place.pick(4 * place.l2_bytes, 2**27, 2**14), 2**13)
    yield starts(place)
    yield loaded(place)
    yield clocked(place)


def named(case: Case, of: str) -> Case:
    """Return a case that says what its figures are of."""
    return replace(case, parameters={**case.parameters, "of": of})


def wide(place: Place, of: str, step: Any) -> Case:
    trips = place.pick(full=4096, quick=1024, rehearsal=2)
    threads, links = micro.THREADS, place.array(micro.links_in_quads())
    target, clocks = place.empty(threads, "uint32"), place.xp.zeros((threads, 2), "int64")
    run = partial(step.run, place.given(links), place.given(target), trips, place.given(clocks))
    rounds = micro.UNROLLED * (trips + (of == "L1 bytes"))
    loaded = micro.QUAD_BYTES * threads * micro.UNROLLED * trips
    return counted(
        f"{of} a clock", step, run, lambda: target, micro.followed(threads, rounds),
        {"of": of, "bytes": loaded, "clocks": counts(place, run, clocks)},
    )  # fmt: skip


def through(place: Place, of: str, footprint: int, steps: int) -> Case:
    """Return a chase through so many bytes, a line of 128 at each step."""
    lines = footprint // chase.LINE_BYTES
    steps = place.pick(steps, steps, 4 * chase.UNROLLED)
    name = f"{of}: a cycle through {size(footprint)}"
    fits = footprint <= place.l2_bytes
    shape = lines, chase.WORDS, steps, lines if fits else steps
    parameters: dict[str, Any] = {"of": of, "footprint": footprint}
    return chased(place, chase.STEPS[0], name, *shape, parameters, cold=not fits)


def starts(place: Place) -> Case:
    """Return blocks that each have an SM for themselves, some on each one after the other."""
    step, blocks = micro.STEPS[2], place.pick(20 * place.sms, 8 * place.sms, 3)
    trips = place.pick(32, 32, 1)
    values, target = place.random(32 * blocks, high=0.5), place.empty(32 * blocks)
    clocks = place.xp.zeros((32 * blocks, 3), "int64")
    run = partial(step.run, place.given(values), place.given(target), trips, place.given(clocks))
    found = counts(place, run, clocks[::32])
    parameters = {"of": "start of a block", "clocks": found}
    return counted("blocks one after the other", step, run, None, None, parameters)


def loaded(place: Place) -> Case:
    step, n = micro.STEPS[3], place.pick(2**28, 2**25, 2**12)
    steps = place.pick(2**9, 2**9, 4 * micro.UNROLLED)
    footprint = place.pick(4 * place.l2_bytes, 2**27, 2**14)
    order = chase.cycle(footprint // chase.LINE_BYTES)
    links, ends = place.given(chase.linked(place.xp, order)), place.xp.zeros(1, "uint32")
    source, target = place.random(n), place.empty(n)
    clocks, blocks = place.xp.zeros((1, 2), "int64"), place.pick(2 * place.sms, 2 * place.sms, 3)
    trips = steps // micro.UNROLLED
    given = place.given(ends), place.given(source), place.given(target)
    run = partial(step.run, links, *given, blocks, trips, place.given(clocks))
    ((begin, end),) = counts(place, run, clocks)
    return counted(
        "a chase while others copy", step, run,
        lambda: place.xp.count_nonzero(target != source).reshape(1), [0],
        {"of": "DRAM latency under load", "clocks_per_step": (end - begin) / steps, "bytes": 8 * n},
    )  # fmt: skip


def clocked(place: Place) -> Case:
    step, trips = micro.STEPS[4], place.pick(2**16, 2**14, 1)
    threads = (2 if place.small else place.resident_blocks(256)) * 256
    start, target = place.random(threads), place.empty(threads)
    turns = place.xp.full(threads, ffma.TURN, "float32")
    clocks = place.xp.zeros((threads, 2), "int64")
    given = place.given(start), place.given(turns), place.given(target)
    run = partial(step.run, *given, trips, place.given(clocks))
    parameters = {"of": "clock under load", "clocks": counts(place, run, clocks[::256])}
    return counted("multiply-adds, clocked", step, run, None, None, parameters)


def counts(place: Place, run: Callable[[], object], clocks: Any) -> list[list[int]]:
    """Run once to warm up, once to count; return what was counted."""
    run()
    run()
    found: list[list[int]] = place.host(clocks).tolist()
    return found


def counted(
    name: str, step: Any, run: Callable[[], object], result: Any, want: Any, parameters: Any
) -> Case:
    """Return the case of a kernel that counts by itself; its result, if any, is exact."""
    variant = Variant(step.name, "numba", run, result, note=step.idea)
    return Case(
        name, (variant,), want=(lambda: want) if result else None, rtol=0, atol=0, cold=False,
        parameters=parameters,
    )  # fmt: skip
