"""Speed of a library's square matrix product over its size, in four kinds of arithmetic.

This plot opens the course. Its sizes are multiples of 64, and between them sizes of every class.
The class of a size is the largest power of two that divides it, up to 64: rows begin at multiples
of as many items. Then k varies alone, with the other two sizes fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpwise.kernels import sgemm
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place
from warpwise.measure.products import (
    BF16,
    FP16,
    FP32,
    TF32,
    Kind,
    Numbers,
    Sizes,
    by_libraries,
    by_ours,
    factors,
    matrices,
)
from warpwise.measure.suites.waves import LARGEST, cliffs

TITLE = "A library's matrix product over its size"
CLASSES = (1, 2, 4, 8, 16, 32, 64)
SMALLEST = 64
OWN = 3  # of our steps, the last ones, for comparison
KINDS = (FP32, TF32, FP16, BF16)
SIDE, DEPTHS = 2048, (512, 1024, 2048, 4096)  # of the products in which k alone varies
SAMPLE_FLOPS = 6e10  # a sample takes about a fifth of a millisecond where the speed is 300 TFLOP/s
MOST_RUNS = 16  # in a sample: the host enqueues so many during the pause before it


def cases(place: Place) -> Iterator[Case]:
    near = cliffs(place.sms, LARGEST)
    full, quick = (sizes(128, near), sizes(512, near)), (tuple(range(256, 2049, 256)),) * 2
    dense, sparse = place.pick(full=full, quick=quick, rehearsal=((128, 129), (128,)))
    numbers = factors(place, max(dense) ** 2)
    for n in dense:
        yield square(place, n, KINDS if n in set(sparse) else (BF16,), numbers, near)
    side, depths = place.pick(full=(SIDE, DEPTHS), quick=(1024, (1024,)), rehearsal=(32, (8,)))
    numbers = factors(place, side * (max(depths) + CLASSES[-1]))
    for depth in depths:
        for c in (0, *CLASSES[:-1]):
            yield deep(place, side, depth + c, numbers)


def size_class(n: int) -> int:
    """Return the largest power of two that divides a size, up to 64."""
    return min(n & -n, CLASSES[-1])


def sizes(step: int, near: tuple[int, ...]) -> tuple[int, ...]:
    """Return multiples of 64, all classes at each ``step``, and both sides of each cliff."""
    some = {base + c for base in range(step, LARGEST, step) for c in CLASSES}
    beside = {cliff + more for cliff in near for more in (-1, 0, 1)}
    found = {*range(SMALLEST, LARGEST + 1, 64), *some, *beside}
    return tuple(n for n in sorted(found) if SMALLEST <= n <= LARGEST)


def square(
    place: Place, n: int, kinds: tuple[Kind, ...], numbers: Numbers, near: tuple[int, ...]
) -> Case:
    """Return one size. Its parameter ``cliff`` is "below" for the last size before a wave begins,
    "above" for the first one after, or empty; by the model, for 16-bit numbers.
    """
    shape = (n, n, n)
    found: list[Variant] = []
    for kind in kinds:
        found += by_libraries(place, kind, *matrices(numbers, kind, shape))
    if FP32 in kinds and n % sgemm.SIDE == 0:
        a, b = matrices(numbers, FP32, shape)
        found += [by_ours(place, step, a, b) for step in sgemm.STEPS[-OWN:]]
    cliff = "below" if n in near else "above" if n - 1 in near else ""
    parameters = {"n": n, "class": size_class(n), "cliff": cliff}
    return _case(place, f"n = {n}", tuple(found), shape, parameters)


def deep(place: Place, side: int, k: int, numbers: Numbers) -> Case:
    shape = (side, side, k)
    found = by_libraries(place, BF16, *matrices(numbers, BF16, shape))
    return _case(place, f"k = {k}", found, shape, {"side": side, "k": k, "class": size_class(k)})


def _case(
    place: Place, name: str, variants: tuple[Variant, ...], shape: Sizes, parameters: dict[str, Any]
) -> Case:
    m, n, k = shape
    flops = 2 * m * n * k
    repeat = max(1, min(MOST_RUNS, round(SAMPLE_FLOPS / flops)))
    return Case(
        name,
        variants,
        want=lambda: place.xp.zeros(1),
        rtol=0,
        atol=1,
        flops=flops,
        cold=False,
        repeat=repeat,
        parameters=parameters,
    )
