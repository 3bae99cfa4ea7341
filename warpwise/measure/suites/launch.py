"""Cost of launches: empty kernels over their arguments, and five small kernels beside one.

A run of an empty case is a train of launches in sequence without waiting. If the GPU finishes a
kernel before the host has launched the next one, the time between events is the host's. Trains are
long because the host can start one while the device is still in the pause before the sample.

Both also run as CUDA graphs, replayed on the default stream, where the events are too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from warpwise.kernels import fusion, launches
from warpwise.measure.case import Case, Variant
from warpwise.measure.graphs import replayed
from warpwise.measure.place import Place

TITLE = "Launches: empty kernels, and five small ones"


def cases(place: Place) -> Iterator[Case]:
    for arrays in launches.EMPTY:
        yield empty(place, arrays)
    for power in place.pick(full=range(12, 25, 2), quick=(12, 16, 20), rehearsal=(10,)):
        yield five(place, 2**power)


def blanked(arrays: tuple[Any, ...]) -> Callable[[], None]:
    """Return what fills arrays with NaN."""

    def blank() -> None:
        for array in arrays:
            array.fill(float("nan"))

    return blank


# --- trains of empty kernels ---


def empty(place: Place, count: int) -> Case:
    length = place.pick(full=2000, quick=1000, rehearsal=3)
    arrays = tuple(place.random(32) for _ in range(count))
    ours = partial(train, launches.EMPTY[count], tuple(map(place.given, arrays)), length)
    variants = [Variant("launches_empty", "numba", ours)]
    if not place.rehearsal:
        graph = replayed(place, ours, blanked(()))
        note = "all launches of the train in one CUDA graph"
        variants.append(Variant("launches_empty, graph", "numba", graph, note=note))
        variants.append(Variant("cupy RawKernel", "cupy", raw_train(place, arrays, length)))
    return Case(
        f"empty kernel, {count} arrays",
        tuple(variants),
        steps=length,
        parameters={"arrays": count},
        cold=False,
    )


def train(kernel: Any, arrays: tuple[Any, ...], length: int, stream: Any = 0) -> None:
    for _ in range(length):
        kernel[1, 32, stream](*arrays)


def raw_train(place: Place, arrays: tuple[Any, ...], length: int) -> Callable[[], None]:
    """Return the same launches of a kernel in CUDA C++, by CuPy."""
    parameters = ", ".join(f"float* a{k}" for k in range(len(arrays)))
    kernel = place.xp.RawKernel(f'extern "C" __global__ void empty({parameters}) {{}}', "empty")

    def run() -> None:
        for _ in range(length):
            kernel((1,), (32,), arrays)

    return run


# --- five small kernels ---

IN_ONE_GRAPH = "the five launches in one CUDA graph"


def five(place: Place, n: int) -> Case:
    """Return one size; small ones are a long train, too.

    Every variant has arrays of its own, so that none passes with another one's results.
    """
    x, repeat = place.random(n), 1 if place.small else 500 if n <= 2**20 else 50
    made = [ours_five(place, x), ours_fused(place, x), cupy_five(place, x)]
    if not place.rehearsal:
        made += [ours_five(place, x, graph=True), cupy_five(place, x, graph=True)]
    if place.torch is not None:
        made.append(torch_five(place, x))
    return Case(
        f"five small kernels, {n} float32",
        tuple(made),
        want=lambda: -place.xp.cos(2 * x.astype("float64")),
        bytes=4 * fusion.TOGETHER * n,
        parameters={"elements": n},
        cold=False,
        repeat=repeat,
    )


def variant(
    name: str, by: str, run: Callable[[], object], y: Any, note: str, moved: int = fusion.APART
) -> Variant:
    return Variant(name, by, run, lambda: y, bytes=4 * moved * y.size, note=note)


def ours_five(place: Place, x: Any, graph: bool = False) -> Variant:
    step, (*spaces, y) = launches.STEPS[0], own(place, x)
    run = partial(step.run, *map(place.given, (x, *spaces, y)))
    if graph:
        replay = replayed(place, run, blanked((*spaces, y)))
        return variant(f"{step.name}, graph", "numba", replay, y, IN_ONE_GRAPH)
    return variant(step.name, "numba", run, y, step.idea)


def ours_fused(place: Place, x: Any) -> Variant:
    step, y = launches.STEPS[1], place.empty(x.size)
    run = partial(step.run, place.given(x), place.given(y))
    return variant(step.name, "numba", run, y, step.idea, fusion.TOGETHER)


def cupy_five(place: Place, x: Any, graph: bool = False) -> Variant:
    (*spaces, y), xp = own(place, x), place.xp

    def run(stream: Any = 0) -> None:
        s, s2, c, c2 = spaces
        xp.sin(x, out=s)
        xp.multiply(s, s, out=s2)
        xp.cos(x, out=c)
        xp.multiply(c, c, out=c2)
        xp.subtract(s2, c2, out=y)

    if graph:
        replay = replayed(place, run, blanked((*spaces, y)))
        return variant("cupy, graph", "cupy", replay, y, IN_ONE_GRAPH)
    return variant("cupy", "cupy", run, y, "a kernel for each operation")


def torch_five(place: Place, x: Any) -> Variant:
    torch, arrays = place.torch, own(place, x)
    t, s, s2, c, c2, y = map(place.tensor, (x, *arrays))

    def run() -> None:
        torch.sin(t, out=s)
        torch.mul(s, s, out=s2)
        torch.cos(t, out=c)
        torch.mul(c, c, out=c2)
        torch.sub(s2, c2, out=y)

    return variant("torch", "torch", run, arrays[-1], "a kernel for each operation")


def own(place: Place, x: Any) -> tuple[Any, ...]:
    """Return four workspaces and a result, of the size of ``x``."""
    return tuple(place.empty(x.size) for _ in range(5))
