"""float64, float32 and float16: times of elementwise work and sums, and errors of sums."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from warpwise.kernels import elementwise, reduction
from warpwise.kernels.step import Step
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.correctness import SHARE, OnDevice
from warpwise.measure.place import Place
from warpwise.measure.suites.reduction import allowed, summed, use_cub

TITLE = "Precision: the same work in float64, float32 and float16"
AT = "a x + y of 2^27 float32", "a x + y of 2^27 float16"
BARS = (
    Bar("elementwise, float32", AT[0], "elementwise_[0-9]_*", "copy", 0.88, 0.97),
    Bar("elementwise, float16", AT[1], "elementwise_half_*", "copy", 0.88, 0.97),
)
DTYPES = ("float64", "float32", "float16")
SINGLE, HALF = elementwise.SINGLE, elementwise.HALF
STEPS = {"float64": SINGLE[:1], "float32": SINGLE, "float16": HALF}
SUMS = {"float64": reduction.SUMS[2:4], "float32": reduction.SUMS[2:], "float16": reduction.HALF}
ROUNDING = {"float64": 2e-14, "float32": 2e-6, "float16": 2e-3}  # of results below 2
OF_CUPY = {
    "float64": "0.75 * x + y",
    "float32": "0.75f * x + y",
    "float16": "T(0.75f * float(x) + float(y))",
}
COLUMNS = 4096  # sums computed side by side to average their errors


def cases(place: Place) -> Iterator[Case]:
    use_cub(place)
    power = place.pick(full=27, quick=23, rehearsal=10)
    for dtype in DTYPES:
        yield scaled(place, power, dtype)
    for dtype in DTYPES:
        name, n = f"sum 2^{power} {dtype}", 2**power
        yield summed(place, name, place.random(n, dtype), SUMS[dtype], allowed(n))
    for power in place.pick(full=range(4, 14), quick=range(4, 14, 3), rehearsal=(4, 6)):
        for step in reduction.ACCUMULATE:
            yield accumulated(place, step, 2**power)


def scaled(place: Place, power: int, dtype: str) -> Case:
    n, xp = 2**power, place.xp
    x, y, z = place.random(n, dtype), place.random(n, dtype, seed=1), place.empty(n, dtype)

    def right() -> tuple[Any]:
        return (elementwise.SCALE * x.astype("float64") + y.astype("float64"),)

    check = OnDevice(place, right, atol=ROUNDING[dtype])
    left = check.left_in(z)

    def two_calls() -> None:
        xp.multiply(x, x.dtype.type(elementwise.SCALE), out=z)
        xp.add(z, y, out=z)

    words = (array.view("uint32") if dtype == "float16" else array for array in (x, y, z))
    variants = [
        *ours(STEPS[dtype], tuple(map(place.given, words)), left),
        Variant("cupy", "cupy", two_calls, left, note="two calls", bytes=5 * x.nbytes),
    ]
    if not place.rehearsal:
        kernel = xp.ElementwiseKernel("T x, T y", "T z", f"z = {OF_CUPY[dtype]}", f"scaled_{dtype}")
        run, note = partial(kernel, x, y, z), "cupy.ElementwiseKernel"
        variants.append(Variant("cupy kernel", "cupy", run, left, note=note))
    if torch := place.torch:
        a, b, c = map(place.tensor, (x, y, z))
        run = partial(torch.add, b, a, alpha=elementwise.SCALE, out=c)
        variants.append(Variant("torch", "torch", run, left))
    return Case(
        f"a x + y of 2^{power} {dtype}",
        tuple(variants),
        want=check.want,
        **SHARE,
        bytes=3 * x.nbytes,
        flops=2 * n,
        parameters={"n": n, "bytes of a number": x.itemsize},
    )


def accumulated(place: Place, step: Step, terms: int) -> Case:
    """Return sums of float16 between 0 and 1, rounded to float16 after each addition or not.

    The parameter ``relative error`` is the mean over the sums. A sum rounded to float16 stops
    growing at 2048, where half a unit in the last place is 1.
    """
    x, sums = place.random(terms * COLUMNS, "float16", low=0), place.empty(COLUMNS)
    arrays = place.given(x.view("int16")), place.given(sums)
    exact = place.host(x.reshape(terms, COLUMNS)).sum(axis=0, dtype="float64")
    error = _relative_error(place, step, arrays, sums, exact)
    return Case(
        f"sums of {terms} float16, {step.name}",
        ours((step,), arrays, lambda: sums),
        want=lambda: exact,
        rtol=1.0 if step is reduction.ACCUMULATE[0] else 1e-5,
        atol=0,
        bytes=x.nbytes,
        flops=x.size,
        parameters={"terms": terms, "relative error": error},
    )


def _relative_error(
    place: Place, step: Step, arrays: tuple[Any, ...], sums: Any, exact: Any
) -> float:
    step.run(*arrays)
    found = abs(place.host(sums) - exact).mean() / exact.mean()
    sums.fill(float("nan"))
    return float(found)
