"""The warps widget: one SM's warps by scheduler, clock by clock: which one issues, and what the
others wait for.

``explorer`` shows a kernel that loads and multiplies, with more or fewer warps on the SM, and more
or fewer loads that do not wait for one another; ``of_timeline`` a launch that the stopwatch timed.
Both are modelled, by ``warpwise.stopwatch.engine``: a scheduler goes on with one warp while that
can. The explorer's timelines are kept in ``warps.json``; ``warpwise.stopwatch.switching`` makes
them."""

from __future__ import annotations

import json
from importlib.resources import files

from warpwise.model.arguments import one_of
from warpwise.views.controls import Choice, Control, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import Json, View

PARTS = 4  #: schedulers of an SM
IN_SIGHT = 320  #: clocks at first
WARPS = (1, 2, 4, 8, 16, 32)  #: on the SM
LOADS = (1, 2, 4)  #: of each warp that are under way together
STORED = files("warpwise.views") / "warps.json"
DEVICE = "H100 SXM"  #: whose quarters each have 32 lanes for float32, one for each of a warp
ASKS = Frame(
    "One SM, clock by clock.",
    "How many warps leave no issue slot empty, and how many do with four loads in each?",
    ("warps", "loads"),
)


def explorer(warps: int = 4, loads: int = 1) -> View:
    """Show the warps of one SM, each of which has so many loads under way.

    Raises LaunchError for a number that is not in ``WARPS`` or ``LOADS``."""
    given = str(one_of("warps", warps, WARPS)), str(one_of("loads", loads, LOADS))
    films = json.loads(STORED.read_text(encoding="utf-8"))
    clocks = films["1 1"]["clocks"]
    controls = (
        Choice("warps", "warps on the SM", _numbers(WARPS), given[0]),
        Choice("loads", "independent loads in each", _numbers(LOADS), given[1]),
        *_controls(clocks, "all", clocks),
    )
    return View("warps", {"films": films, "device": DEVICE}, controls, frame=ASKS)


def of_timeline(
    packed: Json,
    device: str,
    scheduler: str = "0",
    in_sight: int = IN_SIGHT,
    frame: Frame | None = None,
) -> View:
    """Show a timeline of one launch, packed as ``stopwatch.film.Timeline`` packs itself.

    ``scheduler``: "all" or the number of the one that is shown first, for so many clocks."""
    controls = _controls(packed["clocks"], scheduler, in_sight)
    return View("warps", {"films": {"": packed}, "device": device}, controls, frame=frame)


def _numbers(some: tuple[int, ...]) -> dict[str, str]:
    return {str(number): str(number) for number in some}


def _controls(clocks: int, scheduler: str = "0", in_sight: int = IN_SIGHT) -> tuple[Control, ...]:
    whose = {"all": "all four"} | {str(part): str(part) for part in range(PARTS)}
    shown = min(in_sight, clocks)
    return (
        Choice("scheduler", "scheduler", whose, scheduler),
        Slider("first", "from clock", 0, clocks - shown, 0),
        Slider("clocks", "clocks in sight", min(40, clocks), clocks, shown),
    )
