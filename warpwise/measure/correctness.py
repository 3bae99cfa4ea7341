"""Compare a variant's results with the expected ones in float64: wrong results are never timed.

Small results are compared on the host. ``OnDevice`` compares many numbers where they are: copying
them to the host and comparing there would take longer than everything that is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise.errors import MeasureError
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place

#: Tolerances of a case whose variants return their error as a share of the tolerance.
SHARE: dict[str, Any] = {"rtol": 0, "atol": 1}


def worst_error(place: Place, case: Case, variant: Variant, want: tuple[np.ndarray, ...]) -> float:
    """Run a variant once; return the largest error of its results as a share of the tolerance.

    Raises MeasureError if that is above 1, if a number is missing, or if shapes differ.
    """
    variant.run()
    found = variant.result() if variant.result else ()
    atol = case.atol if variant.atol is None else variant.atol
    worst = max(
        (_share(atol, case.rtol, *pair) for pair in zip(_arrays(place, found), want, strict=True)),
        default=0.0,
    )
    if not case.in_place:
        _blank(place, found)
    return worst


def _share(atol: float, rtol: float, got: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest error of one array as a share; raises MeasureError above 1."""
    if got.shape != expected.shape:
        raise MeasureError(f"the result has shape {got.shape}, expected {expected.shape}")
    allowed = atol + rtol * np.abs(expected)
    far = np.abs(got.astype(np.float64) - expected)
    share = np.divide(far, allowed, out=np.where(far > 0, np.inf, 0.0), where=allowed > 0)
    # a missing number, such as one that was never written
    share[~np.isfinite(far)] = np.inf
    worst = float(share.max(initial=0.0))
    if worst > 1:
        at = np.unravel_index(int(share.argmax()), share.shape)
        index = ", ".join(map(str, at))
        raise MeasureError(f"the result at [{index}] is {got[at]:.7g}, expected {expected[at]:.7g}")
    return worst


def _blank(place: Place, found: Any) -> None:
    """Fill results with NaN, so that no later variant with the same array passes with them."""
    for array in found if isinstance(found, (tuple, list)) else (found,):
        if isinstance(array, place.xp.ndarray) and array.ndim and array.flags.c_contiguous:
            array.view("uint8").fill(0xFF)


def wanted(place: Place, case: Case) -> tuple[np.ndarray, ...]:
    """Return a case's expected results in float64 on the host; none without a ``want``."""
    return tuple(a.astype(np.float64) for a in _arrays(place, case.want())) if case.want else ()


def _arrays(place: Place, found: Any) -> Iterator[np.ndarray]:
    for array in found if isinstance(found, (tuple, list)) else (found,):
        yield np.atleast_1d(place.host(array))


def rehearse(place: Place, cases: Iterator[Case]) -> Iterator[tuple[Case, Variant, float | None]]:
    """Check every variant of every case without timing; None for one without a result."""
    for case in cases:
        want = wanted(place, case)
        for variant in case.variants:
            if want and variant.result:
                yield case, variant, worst_error(place, case, variant, want)
            else:
                variant.run()
                yield case, variant, None


@dataclass(frozen=True)
class OnDevice:
    """Expected results on the device, and the tolerance ``atol + rtol * abs(right)``.

    ``right`` makes the results in float64. Without a tolerance they must be equal; otherwise
    ``atol`` is above 0. A variant's ``result`` is its largest error as a share of the tolerance,
    and the case's ``want`` is an error of 0.
    """

    place: Place
    right: Callable[[], tuple[Any, ...]]
    rtol: float = 0.0
    atol: float = 0.0

    def want(self) -> Any:
        """Return the case's ``want``, which goes with SHARE."""
        return self.place.xp.zeros(1)

    def left_in(self, *arrays: Any) -> Callable[[], Any]:
        """Return the ``result`` of a variant that leaves its numbers in ``arrays``.

        Each call wipes them: another variant has to write its own.
        """

        def result() -> Any:
            share = self.share(arrays)
            for array in arrays:
                array.view("uint8").fill(0xFF)
            return share

        return result

    def returning(self, name: str, by: str, work: Callable[[], Any], **more: Any) -> Variant:
        """Return a variant of work that returns new arrays."""
        kept: list[Any] = []

        def run() -> None:
            kept.clear()  # so that two never exist at once
            kept.append(work())

        def result() -> Any:
            return self.share(kept[0] if isinstance(kept[0], tuple) else tuple(kept))

        return Variant(name, by, run, result, **more)

    def share(self, arrays: tuple[Any, ...]) -> np.ndarray:
        """Return the largest error as a share of the tolerance; infinite for missing numbers."""
        got = map(self.place.xp.asarray, arrays)
        return np.array([max(self._share(*pair) for pair in zip(got, self.right(), strict=True))])

    def _share(self, got: Any, right: Any) -> float:
        xp = self.place.xp
        if got.shape != right.shape:
            return np.inf
        if not (self.rtol or self.atol):
            return np.inf if int(xp.count_nonzero(got != right)) else 0.0
        share = xp.abs(got.astype("float64") - right) / (self.atol + self.rtol * xp.abs(right))
        finite = int(xp.count_nonzero(xp.isfinite(share))) == share.size
        return float(xp.max(share)) if finite else np.inf
