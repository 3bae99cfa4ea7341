"""The product of matrices of bfloat16 on tensor cores, beside cuBLAS as PyTorch calls it: a part of the suite of matrix products."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpwise.kernels import hgemm
from warpwise.kernels.bfloat16 import EPSILON, from_bfloat16, to_bfloat16
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.place import Place

BARS = (Bar("bfloat16 matrix product", "hgemm 8192", "hgemm_*", "torch", 0.30, 0.60),)


def hgemm_cases(place: Place) -> Iterator[Case]:
    for size in place.pick(full=(4096, 8192), quick=(2048,), rehearsal=(256,)):
        yield square(place, size)


def square(place: Place, size: int) -> Case:
    """Of results with more than 2^24 numbers, every 37th row is compared: one of each row of a tile comes up."""
    a, b = (to_bfloat16(place.random((size, size), seed=seed)) for seed in (1, 2))
    rows = slice(None, None, 1 if size <= 4096 else 37)
    variants = [step_of(place, step, a, b, rows) for step in hgemm.STEPS]
    if place.torch:
        variants.append(by_torch(place, a, b, rows))
    return Case(
        f"hgemm {size}", tuple(variants), want=wanted(a, b, rows),
        # The result is rounded once. Before that, each of size / 8 additions in float32 may lose 2^-23 of a sum, which is 64 or so at most.
        rtol=EPSILON, atol=size * 2.0**-20,
        bytes=3 * 2 * size**2, flops=2 * size**3, parameters={"n": size, "dtype": "bfloat16"},
    )  # fmt: skip


def step_of(place: Place, step, a, b, rows: slice) -> Variant:
    """A step with an array of its own for the results."""
    c, size = place.empty(a.shape, "uint16"), a.shape[0]
    words = (place.given(array.view("uint32").ravel()) for array in (a, b, c))
    (variant,) = ours((step,), (size, size, *words), lambda: from_bfloat16(c[rows]))
    return variant


def by_torch(place: Place, a, b, rows: slice) -> Variant:
    torch = place.torch
    left, right = place.tensor(a), place.tensor(b)
    c = torch.full_like(left, float("nan"))
    return Variant("torch", "torch", lambda: torch.matmul(left, right, out=c), lambda: c[rows], note="cuBLAS, through torch.matmul")


def wanted(a, b, rows: slice) -> Callable:
    return lambda: from_bfloat16(a[rows]).astype("float64") @ from_bfloat16(b).astype("float64")
