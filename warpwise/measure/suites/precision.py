"""float64, float32 and float16: what their size does to the time of elementwise work and of a sum, and their rounding to a sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpwise.kernels import elementwise, reduction
from warpwise.kernels.step import Step
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.on_device import SHARE, OnDevice
from warpwise.measure.place import Place
from warpwise.measure.suites.reduction import allowed, summed, use_cub

TITLE = "Precision: the same work in float64, float32 and float16"
BARS = (
    Bar("elementwise, float32", "a x + y of 2^27 float32", "elementwise_[0-9]_*", "copy", 0.88, 0.97),
    Bar("elementwise, float16", "a x + y of 2^27 float16", "elementwise_half_*", "copy", 0.88, 0.97),
)  # fmt: skip
DTYPES = ("float64", "float32", "float16")
STEPS = {"float64": elementwise.SINGLE[:1], "float32": elementwise.SINGLE, "float16": elementwise.HALF}
SUMS = {"float64": reduction.SUMS[2:4], "float32": reduction.SUMS[2:], "float16": reduction.HALF}
ROUNDING = {"float64": 2e-14, "float32": 2e-6, "float16": 2e-3}  # of results below 2
OF_CUPY = {"float64": "0.75 * x + y", "float32": "0.75f * x + y", "float16": "T(0.75f * float(x) + float(y))"}
COLUMNS = 4096  # sums that are made side by side, where their errors are asked for


def cases(place: Place) -> Iterator[Case]:
    use_cub(place)
    power = place.pick(full=27, quick=23, rehearsal=10)
    for dtype in DTYPES:
        yield scaled(place, power, dtype)
    for dtype in DTYPES:
        yield summed(place, f"sum 2^{power} {dtype}", place.random(2**power, dtype), SUMS[dtype], allowed(2**power))
    for power in place.pick(full=range(4, 14), quick=range(4, 14, 3), rehearsal=(4, 6)):
        for step in reduction.ACCUMULATE:
            yield accumulated(place, step, 2**power)


def scaled(place: Place, power: int, dtype: str) -> Case:
    n, xp = 2**power, place.xp
    x, y, z = place.random(n, dtype), place.random(n, dtype, seed=1), place.empty(n, dtype)
    check = OnDevice(place, lambda: (elementwise.SCALE * x.astype("float64") + y.astype("float64"),), atol=ROUNDING[dtype])
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
        variants.append(Variant("cupy kernel", "cupy", lambda: kernel(x, y, z), left, note="cupy.ElementwiseKernel"))
    if torch := place.torch:
        a, b, c = map(place.tensor, (x, y, z))
        variants.append(Variant("torch", "torch", lambda: torch.add(b, a, alpha=elementwise.SCALE, out=c), left))
    return Case(
        f"a x + y of 2^{power} {dtype}", tuple(variants), want=check.want, **SHARE, bytes=3 * x.nbytes, flops=2 * n,
        parameters={"n": n, "bytes of a number": x.itemsize},
    )  # fmt: skip


def accumulated(place: Place, step: Step, terms: int) -> Case:
    """Sums of float16 between 0 and 1, rounded to float16 after each addition, or not. ``relative error``: the mean over the sums.

    What is rounded to float16 stops growing at 2048, where one half of a unit in the last place is 1.
    """
    x, sums = place.random(terms * COLUMNS, "float16", low=0), place.empty(COLUMNS)
    arrays = place.given(x.view("int16")), place.given(sums)
    exact = place.host(x.reshape(terms, COLUMNS)).sum(axis=0, dtype="float64")
    return Case(
        f"sums of {terms} float16, {step.name}", ours((step,), arrays, lambda: sums), want=lambda: exact,
        rtol=1.0 if step is reduction.ACCUMULATE[0] else 1e-5, atol=0, bytes=x.nbytes, flops=x.size,
        parameters={"terms": terms, "relative error": _relative_error(place, step, arrays, sums, exact)},
    )  # fmt: skip


def _relative_error(place: Place, step: Step, arrays: tuple, sums: Any, exact: Any) -> float:
    step.run(*arrays)
    found = abs(place.host(sums) - exact).mean() / exact.mean()
    sums.fill(float("nan"))
    return float(found)
