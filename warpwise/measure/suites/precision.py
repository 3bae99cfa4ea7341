"""float64, float32 and float16: what their size does to the time of elementwise work and of a sum, and their rounding to a sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpwise.kernels import elementwise, reduction
from warpwise.kernels.step import Step
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.place import Place
from warpwise.measure.suites.fusion import returning
from warpwise.measure.suites.reduction import blocks, use_cub

TITLE = "Precision: the same work in float64, float32 and float16"
BARS = (
    Bar("elementwise, float32", "a x + y of 2^27 float32", "elementwise_2_wide", "copy", 0.88, 0.97),
    Bar("elementwise, float16", "a x + y of 2^27 float16", "elementwise_half_3_wide", "copy", 0.88, 0.97),
)  # fmt: skip
DTYPES = ("float64", "float32", "float16")
BYTES = {"float64": 8, "float32": 4, "float16": 2}
STEPS = {"float64": elementwise.SINGLE[:1], "float32": elementwise.SINGLE, "float16": elementwise.HALF}
SUMS = {"float64": reduction.SUMS[2:4], "float32": reduction.SUMS[2:], "float16": reduction.HALF}
ROUNDING = {"float64": 1e-14, "float32": 1e-6, "float16": 1e-3}  # of a result, as a share of the largest
OF_CUPY = {"float64": "0.75 * x + y", "float32": "0.75f * x + y", "float16": "T(0.75f * float(x) + float(y))"}
COLUMNS = 4096  # sums that are made side by side, where their errors are asked for


def cases(place: Place) -> Iterator[Case]:
    use_cub(place)
    power = place.pick(full=27, quick=23, rehearsal=10)
    for dtype in DTYPES:
        yield scaled(place, power, dtype)
    for dtype in DTYPES:
        yield summed(place, power, dtype)
    for power in place.pick(full=range(4, 14), quick=range(4, 14, 3), rehearsal=(4, 6)):
        for step in reduction.ACCUMULATE:
            yield accumulated(place, step, 2**power)


def scaled(place: Place, power: int, dtype: str) -> Case:
    n, xp = 2**power, place.xp
    x, y, z = place.random(n, dtype), place.random(n, dtype, seed=1), place.empty(n, dtype)

    def two_calls() -> None:
        xp.multiply(x, x.dtype.type(elementwise.SCALE), out=z)
        xp.add(z, y, out=z)

    variants = [
        *ours(STEPS[dtype], tuple(place.given(as_words(array)) for array in (x, y, z)), lambda: z),
        Variant("cupy", "cupy", two_calls, lambda: z, note="two calls", bytes=5 * BYTES[dtype] * n),
    ]
    if not place.rehearsal:
        fused = xp.ElementwiseKernel("T x, T y", "T z", f"z = {OF_CUPY[dtype]}", f"scaled_{dtype}")
        variants.append(Variant("cupy kernel", "cupy", lambda: fused(x, y, z), lambda: z, note="cupy.ElementwiseKernel"))
    if torch := place.torch:
        a, b, c = map(place.tensor, (x, y, z))
        variants.append(Variant("torch", "torch", lambda: torch.add(b, a, alpha=elementwise.SCALE, out=c), lambda: z))
    return Case(
        f"a x + y of 2^{power} {dtype}", tuple(variants), want=lambda: elementwise.SCALE * x.astype("float64") + y.astype("float64"),
        rtol=0, atol=2 * ROUNDING[dtype], bytes=3 * BYTES[dtype] * n, flops=2 * n, parameters={"n": n, "bytes of a number": BYTES[dtype]},
    )  # fmt: skip


def as_words(array: Any) -> Any:
    """As the kernels take it: a word for two float16."""
    return array.view("uint32") if array.dtype == "float16" else array


def summed(place: Place, power: int, dtype: str) -> Case:
    """Numbers of float16 are added up in float32."""
    n, xp = 2**power, place.xp
    wider = "float64" if dtype == "float64" else "float32"
    x, partials, total = place.random(n, dtype), place.empty(blocks(place), wider), place.empty(1, wider)
    variants = [
        *ours(SUMS[dtype], (place.given(as_words(x)), place.given(partials), place.given(total)), lambda: total),
        returning("cupy", "cupy", lambda: xp.sum(x, dtype=wider), note="CUB where the types are the same"),
    ]
    if torch := place.torch:
        tensor, of = place.tensor(x), getattr(torch, wider)
        variants.append(returning("torch", "torch", lambda: torch.sum(tensor, dtype=of)))
    return Case(
        f"sum 2^{power} {dtype}", tuple(variants), want=lambda: xp.sum(x, dtype="float64"),
        rtol=0, atol=4e-6 * n**0.5, bytes=BYTES[dtype] * n, flops=n, parameters={"n": n, "bytes of a number": BYTES[dtype]},
    )  # fmt: skip


def accumulated(place: Place, step: Step, terms: int) -> Case:
    """Sums of float16 between 0 and 1, rounded to float16 after each addition, or not. ``relative error``: the mean over the sums.

    What is rounded to float16 stops growing at 2048, where one half of a unit in the last place is 1.
    """
    columns = COLUMNS if not place.rehearsal else 64
    x, sums = place.random(terms * columns, "float16", low=0), place.empty(columns)
    arrays = place.given(x.view("int16")), place.given(sums)
    exact = x.reshape(terms, columns).sum(axis=0, dtype="float64")
    step.run(*arrays)
    error = float(abs(sums - exact).mean() / exact.mean())
    sums.fill(-1)
    return Case(
        f"sums of {terms} float16, {step.name}", ours((step,), arrays, lambda: sums), want=lambda: exact,
        rtol=1.0 if step is reduction.ACCUMULATE[0] else 1e-5, atol=0, bytes=2 * x.size, flops=x.size,
        parameters={"terms": terms, "relative error": error},
    )  # fmt: skip
