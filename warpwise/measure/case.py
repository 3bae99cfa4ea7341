"""What a suite is made of: cases, each with variants that do the same work, and bars that say how fast one of them should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from warpwise.kernels.step import Step


@dataclass(frozen=True)
class Variant:
    """One way to do a case's work.

    ``run``: does it once, on the device's default stream, and need not wait for its end. ``result``: the array, or arrays, that a run
    has left, on the device or the host; None where there is nothing to compare. ``by``: whose code it is, "numba" for ours, or "cupy" or
    "torch". ``bytes``, ``flops`` and ``atol``: where they differ from the case's. ``note``: what a reader should know, in one line.
    ``capability``: the least compute capability that it runs on.
    """

    name: str
    by: str
    run: Callable[[], object]
    result: Callable[[], Any] | None = None
    bytes: int | None = None
    flops: int | None = None
    note: str = ""
    capability: tuple[int, int] = (0, 0)
    atol: float | None = None


@dataclass(frozen=True)
class Case:
    """One piece of work at one size. Its variants are timed by turns, after each one's result was compared with ``want``.

    ``want``: makes the results in float64. A result passes where ``abs(result - want) <= atol + rtol * abs(want)``. ``bytes``: the least
    that must move between chip and memory. ``flops``: floating-point operations. ``steps``: how many steps one after the other a run
    takes, where the time of one is asked for. ``parameters``: what a chart needs, such as the size. ``cold``: the L2 cache is flushed
    before each sample. ``repeat``: runs in a sample; the sample is the time of one. ``in_place``: the results stand where arguments stood;
    otherwise they are blanked once they were compared, so that no variant passes with another one's.
    """

    name: str
    variants: tuple[Variant, ...]
    want: Callable[[], Any] | None = None
    rtol: float = 1e-4
    atol: float = 1e-5
    bytes: int = 0
    flops: int = 0
    steps: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cold: bool = True
    repeat: int = 1
    in_place: bool = False


@dataclass(frozen=True)
class Bar:
    """How fast one of our variants should be in a case: a ratio of at least ``at_least``, and better ``aim``, to what stands ``beside`` it.

    ``variant``: a name, or a pattern such as "softmax_*", of which the fastest counts. ``at_least``: 0 where only an aim is set.
    ``beside``: the name of another variant of the case (the ratio of times), "copy" (of bandwidths: the largest copy's of the same run), or
    "peak bandwidth" (the device's, by its data sheet).
    """

    what: str
    case: str
    variant: str
    beside: str
    at_least: float
    aim: float


def ours(steps: Iterable[Step], arrays: tuple, result: Callable[[], Any], **more: Any) -> tuple[Variant, ...]:
    """A variant for each step of a reference kernel. ``arrays``: what the steps' ``run`` takes, as ``Place.given`` gives them."""
    return tuple(
        Variant(step.name, "numba", partial(step.run, *arrays), result, note=step.idea, capability=step.capability, **more)
        for step in steps
    )


def keeping(name: str, by: str, compute: Callable[[], Any], **more: Any) -> Variant:
    """A variant whose library makes a new array for each result: the last one is kept, flat."""
    kept: list[Any] = [None]

    def run() -> None:
        kept[0] = None  # frees the one before, so that there are never two
        kept[0] = compute()

    return Variant(name, by, run, lambda: kept[0].reshape(-1), **more)
