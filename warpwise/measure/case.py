"""The parts of a suite: cases, their variants that do the same work, and performance targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from warpwise.kernels.step import Step


@dataclass(frozen=True)
class Variant:
    """One way to do a case's work.

    ``run`` does it once, on the device's default stream, without waiting for its end. ``result``
    returns the array or arrays that a run has left, on the device or the host; None if there is
    nothing to compare. ``by``: the library, "numba" for our kernels, "cupy" or "torch". ``bytes``,
    ``flops`` and ``atol``: set if they differ from the case's. ``note``: a line for readers.
    ``capability``: the minimum compute capability.
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
    """One piece of work at one size. Each variant's result is compared with ``want``, and then the
    variants are timed in turns.

    ``want`` makes the results in float64. A result passes if ``abs(result - want) <= atol + rtol *
    abs(want)``. ``bytes``: the minimum traffic between chip and memory. ``flops``: floating-point
    operations. ``steps``: dependent steps of a run, if the time per step is of interest.
    ``parameters``: values for charts, such as the size. ``cold``: flush the L2 cache before each
    sample. ``repeat``: runs in a sample, which is the time of one. ``in_place``: results overwrite
    arguments; otherwise they are blanked after the comparison, so that no variant passes with
    another one's.
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
    """A performance target for one of our variants, as a ratio to another one's performance.

    ``variant``: a name, or a pattern such as "softmax_*", of which the fastest counts. ``beside``:
    the name of another variant of the case (for a ratio of times), "copy" (of bandwidths: the
    largest copy's of the same run), or "peak bandwidth" (the device's, by its data sheet).
    ``at_least``: the required ratio, or 0 if there is only the ``aim``. ``peer``: ``beside``
    in words, where its name does not say what it is.
    """

    what: str
    case: str
    variant: str
    beside: str
    at_least: float
    aim: float
    peer: str = ""


def ours(
    steps: Iterable[Step], arrays: tuple[Any, ...], result: Callable[[], Any], **more: Any
) -> tuple[Variant, ...]:
    """Return a variant for each step of a reference kernel.

    ``arrays``: the arguments of the steps' ``run``, as ``Place.given`` returns them.
    """
    return tuple(
        Variant(
            step.name,
            "numba",
            partial(step.run, *arrays),
            result,
            note=step.idea,
            capability=step.capability,
            **more,
        )
        for step in steps
    )


def keeping(name: str, by: str, compute: Callable[[], Any], **more: Any) -> Variant:
    """Return a variant of a library that returns new arrays: the last one is kept, flat."""
    kept: list[Any] = [None]

    def run() -> None:
        kept[0] = None  # frees the previous one, so that two never exist at once
        kept[0] = compute()

    return Variant(name, by, run, lambda: kept[0].reshape(-1), **more)
