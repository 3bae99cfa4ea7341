"""The sum of float32 numbers over how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpwise.kernels import reduction
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.on_device import SHARE, OnDevice
from warpwise.measure.place import Place
from warpwise.measure.resident import resident_blocks

TITLE = "Sum of float32 numbers over their count"
BARS = (Bar("sum", "sum 2^28 float32", "sum_*", "cupy", 0.92, 1.0),)
WITH_ATOMICS = 2**22  # numbers, at most: an atomic for each is slow, and rounds the whole sum each time


def cases(place: Place) -> Iterator[Case]:
    use_cub(place)
    for power in place.pick(full=(18, 20, 22, 24, 26, 28), quick=(20, 24, 26), rehearsal=(12,)):
        n = 2**power
        atomics = n <= WITH_ATOMICS
        case = summed(place, f"sum 2^{power} float32", place.random(n), reduction.SUMS[0 if atomics else 1 :], allowed(n, atomics))
        yield case
        del case


def allowed(n: int, atomics: bool = False) -> float:
    """Signs are random, so a sum grows like the root of the count, and so do its errors."""
    return (3e-4 if atomics else 1e-5) * n**0.5


def summed(place: Place, name: str, x: Any, steps: tuple, atol: float) -> Case:
    """The sum of ``x`` by steps and by libraries. Sums of float16 are float32."""
    xp, dtype = place.xp, "float64" if x.dtype == "float64" else "float32"
    partials, total = place.empty(3 if place.rehearsal else resident_blocks(place, reduction.THREADS), dtype), place.empty(1, dtype)
    words = x.view("uint32") if x.dtype == "float16" else x
    check = OnDevice(place, lambda: (xp.sum(x, dtype="float64").reshape(1),), atol=atol)
    variants: list[Variant] = [
        *ours(steps, tuple(map(place.given, (words, partials, total))), check.left_in(total)),
        check.returning("cupy", "cupy", lambda: xp.sum(x, dtype=dtype).reshape(1), note="CUB where no type changes"),
    ]
    if torch := place.torch:
        tensor, of = place.tensor(x), getattr(torch, dtype)
        variants.append(check.returning("torch", "torch", lambda: torch.sum(tensor, dtype=of).reshape(1)))
    return Case(
        name, tuple(variants), want=check.want, **SHARE, bytes=x.nbytes, flops=x.size,
        parameters={"n": x.size, "bytes of a number": x.itemsize},
    )  # fmt: skip


def use_cub(place: Place) -> None:
    """Let CuPy sum with CUB, NVIDIA's library of such things, which it does by itself unless an environment variable says otherwise."""
    if not place.rehearsal:
        from cupy import _core

        _core.set_routine_accelerators(["cub"])
        _core.set_reduction_accelerators(["cub"])
