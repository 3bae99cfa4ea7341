"""The rungs widget: versions of one kernel, and for each what it takes of every resource of an SM.

Given are clocks for one piece of work, such as a warp's multiply-add, by resource, and if somebody
has measured it the time of the whole as clocks too. Modelled: each resource works alone, at its
full rate, so the longest bar is a bound, and what is measured lies beyond it for what is left out:
waiting above all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from warpwise.errors import LaunchError
from warpwise.model.arguments import whole
from warpwise.views.controls import Stepper
from warpwise.views.frame import Frame
from warpwise.views.view import View

FEWEST_CLOCKS = 1 / 64  #: at the left end of the axis
ASKS = Frame("What is scarce.", "Which resource does the next step have to free?", ())


@dataclass(frozen=True)
class Rung:
    """One version: its name, the clocks it ``takes`` of each resource, and those measured, or 0."""

    name: str
    takes: Mapping[str, float]
    measured: float = 0.0

    @property
    def scarce(self) -> str:
        """The resource that it takes for longest."""
        return max(self.takes, key=lambda name: self.takes[name])


def explorer(rungs: Sequence[Rung], work: str = "multiply-add", step: int = 1) -> View:
    """Show ``rungs`` one by one, opened at a step, counted from 1; ``work`` is what is counted for.

    All take of the same resources. Raises LaunchError for another step, no rungs, other resources,
    and for clocks that are not a number of 0 or more."""
    if not rungs:
        raise LaunchError("there are no rungs: give at least one")
    step = whole("step", step, 1, len(rungs))
    names = list(rungs[0].takes)
    for rung in rungs:
        if list(rung.takes) != names or not all(clocks >= 0 for clocks in rung.takes.values()):
            raise LaunchError(f"{rung.name}: give clocks, 0 or more, of {', '.join(names)}")
    data = {
        "work": escape(work),
        "least": FEWEST_CLOCKS,
        "resources": [escape(name) for name in names],
        "rungs": [
            {
                "name": escape(rung.name),
                "takes": [rung.takes[name] for name in names],
                "measured": rung.measured,
            }
            for rung in rungs
        ],
    }
    return View("rungs", data, (Stepper("step", "step", 1, len(rungs), step),), frame=ASKS)
