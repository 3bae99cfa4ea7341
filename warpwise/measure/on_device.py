"""Results of many numbers, compared where they are: copying them to the host and comparing there takes longer than all that is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise.measure.case import Variant
from warpwise.measure.place import Place

#: Of a case whose variants' results are shares of what is allowed.
SHARE = {"rtol": 0, "atol": 1}


@dataclass(frozen=True)
class OnDevice:
    """What is right, and how far from it a number may be: ``atol + rtol * abs(right)``, with an ``atol`` above 0, or nothing at all.

    ``right``: makes the results in float64, on the device. A variant's ``result`` is then the largest error as a share of what is
    allowed, and a case's ``want`` is no error.
    """

    place: Place
    right: Callable[[], tuple[Any, ...]]
    rtol: float = 0.0
    atol: float = 0.0

    def want(self) -> Any:
        """A case's, which goes with SHARE."""
        return self.place.xp.zeros(1)

    def left_in(self, *arrays: Any) -> Callable[[], Any]:
        """The result of a variant that leaves its numbers in ``arrays``. Looking wipes them: another variant has to write its own."""

        def result() -> Any:
            share = self.share(arrays)
            for array in arrays:
                array.view("uint8").fill(0xFF)
            return share

        return result

    def returning(self, name: str, by: str, work: Callable[[], Any], **more: Any) -> Variant:
        """A variant of work that makes new arrays for its results and returns them."""
        kept: list[Any] = []

        def run() -> None:
            kept.clear()  # so that there are never two
            kept.append(work())

        def result() -> Any:
            return self.share(kept[0] if isinstance(kept[0], tuple) else tuple(kept))

        return Variant(name, by, run, result, **more)

    def share(self, arrays: tuple[Any, ...]) -> np.ndarray:
        """The largest error of all arrays, as a share of what is allowed; infinite where a number is missing."""
        got = map(self.place.xp.asarray, arrays)
        return np.array([max(self._share(*pair) for pair in zip(got, self.right(), strict=True))])

    def _share(self, got: Any, right: Any) -> float:
        xp = self.place.xp
        if got.shape != right.shape:
            return np.inf
        if not (self.rtol or self.atol):
            return np.inf if int(xp.count_nonzero(got != right)) else 0.0
        share = xp.abs(got.astype("float64") - right) / (self.atol + self.rtol * xp.abs(right))
        return float(xp.max(share)) if int(xp.count_nonzero(xp.isfinite(share))) == share.size else np.inf
