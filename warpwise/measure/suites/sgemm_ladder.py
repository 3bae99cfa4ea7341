"""The product of two square matrices, step by step, beside cuBLAS: float32 with TF32 off, and bfloat16 on tensor cores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from warpwise.kernels import sgemm
from warpwise.measure import hgemm_cases
from warpwise.measure.case import Bar, Case, Variant
from warpwise.measure.place import Place
from warpwise.measure.products import FP32, by_ours, by_torch, checked, random

TITLE = "Matrix product, step by step: float32, and bfloat16 on tensor cores"
BARS = (Bar("float32 matrix product", "sgemm 4096", "sgemm_*", "cupy", 0.60, 0.85), *hgemm_cases.BARS)
SHORT = 2e10  # floating-point operations: below, a sample is several runs


def cases(place: Place) -> Iterator[Case]:
    for n in place.pick(full=(1024, 2048, 4096), quick=(1024,), rehearsal=(128,)):
        yield product(place, n)
    yield from hgemm_cases.hgemm_cases(place)


def product(place: Place, n: int) -> Case:
    """``steps`` among the parameters: our variants, from plain to fast, for a chart of their shares of cuBLAS."""
    a, b = random(place, FP32, (n, n), seed=0), random(place, FP32, (n, n), seed=1)
    return Case(
        f"sgemm {n}",
        (*(by_ours(place, step, a, b) for step in sgemm.STEPS), *libraries(place, a, b)),
        want=lambda: place.xp.zeros(1), rtol=0, atol=1, bytes=12 * n * n, flops=2 * n**3, cold=False, repeat=4 if 2 * n**3 < SHORT else 1,
        parameters={"n": n, "steps": [step.name for step in sgemm.STEPS]},
    )  # fmt: skip


def libraries(place: Place, a: Any, b: Any) -> Iterator[Variant]:
    """CuPy multiplies without TF32 unless CUPY_TF32 is set; the comparison with float64 would find that out."""
    c = place.empty((a.shape[0], b.shape[1]))
    yield Variant("cupy", "cupy", partial(place.xp.matmul, a, b, out=c), checked(place, FP32, a, b, c), note="cuBLAS")
    if place.torch is not None:
        c = place.empty((a.shape[0], b.shape[1]))
        yield Variant("torch", "torch", by_torch(place, a, b, c), checked(place, FP32, a, b, c), note="cuBLAS")
