"""Sum of float32 numbers over their count."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from warpwise.kernels import reduction
from warpwise.kernels.step import Step
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.correctness import SHARE, OnDevice
from warpwise.measure.place import Place

TITLE = "Sum of float32 numbers over their count"
BARS = (Bar("sum", "sum 2^28 float32", "sum_*", "cupy", 0.92, 1.0, "CUB"),)
# the most numbers: an atomic for each is slow, and rounds the whole sum each time
WITH_ATOMICS = 2**22


def cases(place: Place) -> Iterator[Case]:
    use_cub(place)
    for power in place.pick(full=(18, 20, 22, 24, 26, 28), quick=(20, 24, 26), rehearsal=(12,)):
        n = 2**power
        atomics = n <= WITH_ATOMICS
        steps, atol = reduction.SUMS[0 if atomics else 1 :], allowed(n, atomics)
        yield summed(place, f"sum 2^{power} float32", place.random(n), steps, atol)


def allowed(n: int, atomics: bool = False) -> float:
    """Return the tolerance: of random signs, sums and errors grow as the root of the count."""
    return (3e-4 if atomics else 1e-5) * math.sqrt(n)


def summed(place: Place, name: str, x: Any, steps: tuple[Step, ...], atol: float) -> Case:
    """Return the sum of ``x`` by steps and by libraries; float16 is summed in float32."""
    xp, dtype = place.xp, "float64" if x.dtype == "float64" else "float32"
    blocks = 3 if place.small else place.resident_blocks(reduction.THREADS)
    partials, total = place.empty(blocks, dtype), place.empty(1, dtype)
    words = x.view("uint32") if x.dtype == "float16" else x
    check = OnDevice(place, lambda: (xp.sum(x, dtype="float64").reshape(1),), atol=atol)

    def by_cupy() -> Any:
        return xp.sum(x, dtype=dtype).reshape(1)

    variants: list[Variant] = [
        *ours(steps, tuple(map(place.given, (words, partials, total))), check.left_in(total)),
        check.returning("cupy", "cupy", by_cupy, note="CUB where no type changes"),
    ]
    if torch := place.torch:
        tensor, of = place.tensor(x), getattr(torch, dtype)

        def by_torch() -> Any:
            return torch.sum(tensor, dtype=of).reshape(1)

        variants.append(check.returning("torch", "torch", by_torch))
    return Case(
        name,
        tuple(variants),
        want=check.want,
        **SHARE,
        bytes=x.nbytes,
        flops=x.size,
        parameters={"n": x.size, "bytes of a number": x.itemsize},
    )


def use_cub(place: Place) -> None:
    """Let CuPy sum with NVIDIA's CUB, which is its default unless the environment overrides it."""
    if not place.rehearsal:
        from cupy import _core

        _core.set_routine_accelerators(["cub"])
        _core.set_reduction_accelerators(["cub"])
