"""Three sigmoids forward and backward: values between the two stored and read, or made again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warpwise.kernels import recompute
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.on_device import SHARE, OnDevice
from warpwise.measure.place import Place

TITLE = "Recomputation: three sigmoids forward and backward"
BARS = (Bar("recomputation", "three sigmoids of 2^26 float32", "recompute_[45]_*", "recompute_3_out_again", 1.45, 1.6),)
LEAST = min(recompute.ACCESSES)


def cases(place: Place) -> Iterator[Case]:
    yield sigmoids(place, place.pick(full=26, quick=22, rehearsal=10))


def sigmoids(place: Place, power: int) -> Case:
    n = 2**power
    x, dout = place.random(n, low=-4, high=4), place.random(n, seed=1)
    s1, s2, d2, d1, out, dx = (place.empty(n) for _ in range(6))
    arrays = tuple(map(place.given, (x, dout, s1, s2, d2, d1, out, dx)))

    def right() -> tuple[Any, Any]:
        a = _sigmoid(place, x.astype("float64"))
        b = _sigmoid(place, a)
        c = _sigmoid(place, b)
        return c, dout * c * (1 - c) * b * (1 - b) * a * (1 - a)

    check = OnDevice(place, right, rtol=1e-4, atol=1e-6)
    variants = (
        *(
            variant for step, accesses in zip(recompute.STEPS, recompute.ACCESSES, strict=True)
            for variant in ours((step,), arrays, check.left_in(out, dx), bytes=4 * n * accesses)
        ),
        *(_of_torch(place, check, x, dout) if place.torch else ()),
    )  # fmt: skip
    return Case(
        f"three sigmoids of 2^{power} float32", variants, want=check.want, **SHARE, bytes=4 * n * LEAST, parameters={"n": n},
    )  # fmt: skip


def _sigmoid(place: Place, v: Any) -> Any:
    return 1 / (1 + place.xp.exp(-v))


def _of_torch(place: Place, check: OnDevice, x: Any, dout: Any) -> Iterator[Variant]:
    """Forward and backward as a training program runs them, through autograd."""
    torch = place.torch
    leaf, slope = place.tensor(x).detach().requires_grad_(), place.tensor(dout)

    def forward(v):
        return torch.sigmoid(torch.sigmoid(torch.sigmoid(v)))

    def both(forward):
        out = forward(leaf)
        return out.detach(), torch.autograd.grad(out, leaf, slope)[0]

    compiled = torch.compile(forward)
    yield check.returning("torch", "torch", lambda: both(forward), note="autograd", bytes=4 * x.size * recompute.ACCESSES[0])
    yield check.returning("torch compile", "torch", lambda: both(compiled), note="autograd of torch.compile")
