"""Whether a variant computes what it should: nothing is timed before that is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpwise.errors import MeasureError
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place


def worst_error(place: Place, case: Case, variant: Variant, want: tuple[np.ndarray, ...]) -> float:
    """Run a variant once and compare what it leaves: the largest error, as a share of what the case allows.

    Raises MeasureError where that is above 1, where a number is missing, or where shapes differ.
    """
    variant.run()
    found = variant.result()
    atol = case.atol if variant.atol is None else variant.atol
    worst = max((_share(atol, case.rtol, *pair) for pair in zip(_arrays(place, found), want, strict=True)), default=0.0)
    if not case.in_place:
        _blank(place, found)
    return worst


def _share(atol: float, rtol: float, got: np.ndarray, expected: np.ndarray) -> float:
    """The largest error of one array, as a share of what is allowed. Raises MeasureError where it is above 1."""
    if got.shape != expected.shape:
        raise MeasureError(f"the result has shape {got.shape}, and {expected.shape} is right")
    allowed = atol + rtol * np.abs(expected)
    far = np.abs(got.astype(np.float64) - expected)
    share = np.divide(far, allowed, out=np.where(far > 0, np.inf, 0.0), where=allowed > 0)
    share[~np.isfinite(far)] = np.inf  # a number that is missing, such as one that was never written
    worst = float(share.max(initial=0.0))
    if worst > 1:
        at = np.unravel_index(int(share.argmax()), share.shape)
        raise MeasureError(f"the result at [{', '.join(map(str, at))}] is {got[at]:.7g}, and {expected[at]:.7g} is right")
    return worst


def _blank(place: Place, found) -> None:
    """Leave nothing in the results that a later variant, writing to the same array, could pass off as its own: no number at all."""
    for array in found if isinstance(found, (tuple, list)) else (found,):
        if isinstance(array, place.xp.ndarray) and array.ndim and array.flags.c_contiguous:
            array.view("uint8").fill(0xFF)


def wanted(place: Place, case: Case) -> tuple[np.ndarray, ...]:
    """What a case's results should be, in float64 on the host; nothing where it has no ``want``."""
    return tuple(a.astype(np.float64) for a in _arrays(place, case.want())) if case.want else ()


def _arrays(place: Place, found) -> Iterator[np.ndarray]:
    for array in found if isinstance(found, (tuple, list)) else (found,):
        yield np.atleast_1d(place.host(array))


def rehearse(place: Place, cases: Iterator[Case]) -> Iterator[tuple[Case, Variant, float | None]]:
    """Check every variant of every case, timing nothing; None for one that has no result to compare."""
    for case in cases:
        want = wanted(place, case)
        for variant in case.variants:
            if want and variant.result:
                yield case, variant, worst_error(place, case, variant, want)
            else:
                variant.run()
                yield case, variant, None
