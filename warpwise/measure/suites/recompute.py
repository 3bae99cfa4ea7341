"""Three sigmoids forward and backward, with intermediate values stored or recomputed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from warpwise.kernels import recompute
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.correctness import SHARE, OnDevice
from warpwise.measure.place import Place

TITLE = "Recomputation: three sigmoids forward and backward"
AT = "three sigmoids of 2^26 float32"
BESIDE = "recompute_3_out_again"
BARS = (
    Bar("recomputation", AT, "recompute_[45]_*", BESIDE, 1.45, 1.6, "the output alone made again"),
)
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
    left, variants = check.left_in(out, dx), list[Variant]()
    for step, accesses in zip(recompute.STEPS, recompute.ACCESSES, strict=True):
        variants += ours((step,), arrays, left, bytes=4 * n * accesses)
    if place.torch:
        variants += _of_torch(place, check, x, dout)
    return Case(
        f"three sigmoids of 2^{power} float32",
        tuple(variants),
        want=check.want,
        **SHARE,
        bytes=4 * n * LEAST,
        parameters={"n": n},
    )


def _sigmoid(place: Place, v: Any) -> Any:
    return 1 / (1 + place.xp.exp(-v))


def _of_torch(place: Place, check: OnDevice, x: Any, dout: Any) -> Iterator[Variant]:
    """Yield forward and backward through autograd, as a training program runs them."""
    torch = place.torch
    leaf, slope = place.tensor(x).detach().requires_grad_(), place.tensor(dout)

    def forward(v: Any) -> Any:
        return torch.sigmoid(torch.sigmoid(torch.sigmoid(v)))

    def both(forward: Callable[[Any], Any]) -> tuple[Any, Any]:
        out = forward(leaf)
        return out.detach(), torch.autograd.grad(out, leaf, slope)[0]

    compiled, moved = torch.compile(forward), 4 * x.size * recompute.ACCESSES[0]
    eager, note = partial(both, forward), "autograd of torch.compile"
    yield check.returning("torch", "torch", eager, note="autograd", bytes=moved)
    yield check.returning("torch compile", "torch", partial(both, compiled), note=note)
