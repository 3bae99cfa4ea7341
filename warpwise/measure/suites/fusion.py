"""sin(x)^2 + cos(x)^2 as five kernels and as one: 11 accesses for each element, and 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpwise.kernels import fusion
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.correctness import SHARE, OnDevice
from warpwise.measure.place import Place

TITLE = "Fusion: five elementwise kernels and one"
AT = "sin^2 + cos^2 of 2^27 float32"
BARS = (
    Bar(
        "fusion", AT, "fusion_[34]_*", "fusion_2_five_wide", 4.5, 5.4, "five kernels, 16 bytes wide"
    ),
)


def cases(place: Place) -> Iterator[Case]:
    yield squares(place, place.pick(full=27, quick=23, rehearsal=10))


def squares(place: Place, power: int) -> Case:
    """Return the case of x in [-3, 3].

    Between -pi and pi the special-function units' sine and cosine are off by less than 2^-21 (CUDA
    C++ Programming Guide).
    """
    n, xp = 2**power, place.xp
    x = place.random(n, low=-3, high=3)
    s, c, s2, c2, y = (place.empty(n) for _ in range(5))
    arrays = tuple(map(place.given, (x, s, c, s2, c2, y)))
    apart, together = ({"bytes": 4 * n * accesses} for accesses in (fusion.APART, fusion.TOGETHER))

    def right() -> tuple[Any]:
        wide = x.astype("float64")
        return (xp.sin(wide) ** 2 + xp.cos(wide) ** 2,)

    def five_calls() -> None:
        xp.sin(x, out=s)
        xp.cos(x, out=c)
        xp.multiply(s, s, out=s2)
        xp.multiply(c, c, out=c2)
        xp.add(s2, c2, out=y)

    check = OnDevice(place, right, atol=1e-5)
    left = check.left_in(y)
    variants = [
        *ours(fusion.STEPS[:2], arrays, left, **apart),
        *ours(fusion.STEPS[2:], arrays, left, **together),
        Variant("cupy", "cupy", five_calls, left, note="five calls", **apart),
    ]
    if not place.rehearsal:
        fused = xp.fuse()(_of_cupy)
        variants.append(check.returning("cupy fuse", "cupy", lambda: fused(x), note="cupy.fuse"))
    return Case(
        f"sin^2 + cos^2 of 2^{power} float32",
        (*variants, *_of_torch(place, check, x)),
        want=check.want,
        **SHARE,
        bytes=4 * n * fusion.TOGETHER,
        flops=3 * n,
        parameters={"n": n},
    )


def _of_cupy(v: Any) -> Any:
    import cupy

    s, c = cupy.sin(v), cupy.cos(v)
    return s * s + c * c


def _of_torch(place: Place, check: OnDevice, x: Any) -> Iterator[Variant]:
    if torch := place.torch:

        def squares(v: Any) -> Any:
            s, c = torch.sin(v), torch.cos(v)
            return s * s + c * c

        tensor, compiled = place.tensor(x), torch.compile(squares)
        moved = {"note": "five calls", "bytes": 4 * x.size * fusion.APART}
        yield check.returning("torch", "torch", lambda: squares(tensor), **moved)
        note = "torch.compile"
        yield check.returning("torch compile", "torch", lambda: compiled(tensor), note=note)
