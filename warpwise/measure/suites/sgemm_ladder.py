"""Products of square matrices, step by step, beside cuBLAS.

float32 has TF32 off; bfloat16 runs on tensor cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from warpwise.kernels import hgemm, sgemm
from warpwise.kernels.bfloat16 import EPSILON, from_bfloat16, to_bfloat16
from warpwise.kernels.step import Step
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.place import Place
from warpwise.measure.products import FP32, by_ours, by_torch, checked, random

TITLE = "Matrix product, step by step: float32, and bfloat16 on tensor cores"
BARS = (
    Bar("float32 matrix product", "sgemm 4096", "sgemm_*", "cupy", 0.60, 0.85, "cuBLAS"),
    Bar("bfloat16 matrix product", "hgemm 8192", "hgemm_*", "torch", 0.30, 0.60, "cuBLAS"),
)
SHORT = 2e10  # floating-point operations, below which a sample is several runs


def cases(place: Place) -> Iterator[Case]:
    for n in place.pick(full=(1024, 2048, 4096), quick=(1024,), rehearsal=(128,)):
        yield product(place, n)
    yield from hgemm_cases(place)


# --- float32 ---


def product(place: Place, n: int) -> Case:
    """Return one size; its parameter ``steps`` lists our variants, from plain to fast."""
    a, b = random(place, FP32, (n, n), seed=0), random(place, FP32, (n, n), seed=1)
    return Case(
        f"sgemm {n}",
        (*(by_ours(place, step, a, b) for step in sgemm.STEPS), *libraries(place, a, b)),
        want=lambda: place.xp.zeros(1),
        rtol=0,
        atol=1,
        bytes=12 * n * n,
        flops=2 * n**3,
        cold=False,
        repeat=4 if 2 * n**3 < SHORT else 1,
        parameters={"n": n, "steps": [step.name for step in sgemm.STEPS]},
    )


def libraries(place: Place, a: Any, b: Any) -> Iterator[Variant]:
    """Yield cuBLAS through CuPy and torch.

    CuPy multiplies without TF32 unless CUPY_TF32 is set, which the comparison with float64 would
    reveal.
    """
    c = place.empty((a.shape[0], b.shape[1]))
    multiply = partial(place.xp.matmul, a, b, out=c)
    yield Variant("cupy", "cupy", multiply, checked(place, FP32, a, b, c), note="cuBLAS")
    if place.torch is not None:
        d = place.empty((a.shape[0], b.shape[1]))
        run, result = by_torch(place, a, b, d), checked(place, FP32, a, b, d)
        yield Variant("torch", "torch", run, result, note="cuBLAS")


# --- bfloat16 ---


def hgemm_cases(place: Place) -> Iterator[Case]:
    for size in place.pick(full=(4096, 8192), quick=(2048,), rehearsal=(256,)):
        yield bf16_product(place, size)


def bf16_product(place: Place, size: int) -> Case:
    """Return one size; above 2^24 results, every 37th row is compared.

    These include each row of a tile.
    """
    a, b = (to_bfloat16(place.random((size, size), seed=seed)) for seed in (1, 2))
    rows = slice(None, None, 1 if size <= 4096 else 37)
    variants = [bf16_step(place, step, a, b, rows) for step in hgemm.STEPS]
    if place.torch:
        variants.append(bf16_by_torch(place, a, b, rows))
    return Case(
        f"hgemm {size}",
        tuple(variants),
        want=in_float64(a, b, rows),
        # The result is rounded once. Before that, each of size / 8 additions in float32 may lose
        # 2^-23 of a sum, which is 64 or so at most.
        rtol=EPSILON,
        atol=size * 2.0**-20,
        bytes=3 * 2 * size**2,
        flops=2 * size**3,
        parameters={"n": size, "dtype": "bfloat16"},
    )


def bf16_step(place: Place, step: Step, a: Any, b: Any, rows: slice) -> Variant:
    """Return a step with an array of its own for the results."""
    c, size = place.empty(a.shape, "uint16"), a.shape[0]
    words = (place.given(array.view("uint32").ravel()) for array in (a, b, c))
    (variant,) = ours((step,), (size, size, *words), lambda: from_bfloat16(c[rows]))
    return variant


def bf16_by_torch(place: Place, a: Any, b: Any, rows: slice) -> Variant:
    left, right = place.tensor(a), place.tensor(b)
    c = place.torch.full_like(left, float("nan"))
    run = partial(place.torch.matmul, left, right, out=c)
    return Variant("torch", "torch", run, lambda: c[rows], note="cuBLAS, through torch.matmul")


def in_float64(a: Any, b: Any, rows: slice) -> Callable[[], Any]:
    return lambda: from_bfloat16(a[rows]).astype("float64") @ from_bfloat16(b).astype("float64")
