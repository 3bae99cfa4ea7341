"""The sum of float32 numbers over how many there are."""

from __future__ import annotations

from collections.abc import Iterator

from warpwise.kernels import reduction
from warpwise.measure.case import Bar, Case, ours
from warpwise.measure.place import Place
from warpwise.measure.suites.fusion import returning

TITLE = "Sum of float32 numbers over their count"
BARS = (Bar("sum", "sum 2^28 float32", "sum_5_wide", "cupy", 0.92, 1.0),)
WITH_ATOMICS = 2**22  # numbers, at most: an atomic for each is slow, and rounds the whole sum each time
BLOCKS_PER_SM = 8


def cases(place: Place) -> Iterator[Case]:
    use_cub(place)
    for power in place.pick(full=(18, 20, 22, 24, 26, 28), quick=(20, 24, 26), rehearsal=(12,)):
        yield summed(place, power)


def summed(place: Place, power: int) -> Case:
    """Signs are random, so the sum grows like the root of the count, and so do the errors that are allowed."""
    n, xp = 2**power, place.xp
    x, partials, total = place.random(n), place.empty(blocks(place)), place.empty(1)
    atomics = n <= WITH_ATOMICS
    variants = [
        *ours(reduction.SUMS[0 if atomics else 1 :], tuple(map(place.given, (x, partials, total))), lambda: total),
        returning("cupy", "cupy", lambda: x.sum(), note="CUB"),
    ]
    if torch := place.torch:
        tensor = place.tensor(x)
        variants.append(returning("torch", "torch", lambda: torch.sum(tensor)))
    return Case(
        f"sum 2^{power} float32", tuple(variants), want=lambda: xp.sum(x, dtype="float64"),
        rtol=0, atol=(3e-4 if atomics else 4e-6) * n**0.5, bytes=4 * n, flops=n, parameters={"n": n},
    )  # fmt: skip


def blocks(place: Place) -> int:
    """Of a sum's first launch: as many as run at once."""
    return 3 if place.rehearsal else BLOCKS_PER_SM * place.sms


def use_cub(place: Place) -> None:
    """Let CuPy sum with CUB, NVIDIA's library of such things, which it does by itself unless an environment variable says otherwise."""
    if not place.rehearsal:
        from cupy import _core

        _core.set_routine_accelerators(["cub"])
        _core.set_reduction_accelerators(["cub"])
