"""The checkpoints widget: the share of time that is work which lasts, by how often a run is saved.

The formulas are those of ``warpwise.model.checkpoints``, which ``checkpoints.js`` follows for every
place of the controls; a test holds the two together."""

from __future__ import annotations

from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

WRITES = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200)  #: seconds
LEAST_GPUS, MOST_GPUS = 3, 17  #: as powers of 2
MOST_YEARS, MOST_RESTART, MOST_INTERVAL = 50, 60, 240
ASKS = Frame(
    "When to save a run.",
    "How often, if four times as many GPUs work?",
    ("gpus", "interval", "write"),
)


def explorer(
    gpus: int = 16_384, years: int = 6, write: int = 60, restart: int = 10, interval: int = 40
) -> View:
    """Show a run on ``gpus``, a power of 2 from 8 to 131,072, each interrupted once in ``years``.

    ``write``: seconds of writing. ``restart``: minutes, 0 to 60. ``interval``: minutes between two
    checkpoints, 1 to 240. Raises LaunchError for anything else."""
    powers = [2**k for k in range(LEAST_GPUS, MOST_GPUS + 1)]
    place = LEAST_GPUS + powers.index(one_of("gpus", gpus, powers))
    controls = (
        Slider("gpus", "GPUs", LEAST_GPUS, MOST_GPUS, place),
        Slider("interval", "minutes between", 1, MOST_INTERVAL,
               whole("interval", interval, 1, MOST_INTERVAL)),
        Slider("write", "writing takes", 0, len(WRITES) - 1,
               WRITES.index(one_of("write", write, WRITES))),
        Slider("years", "years of a GPU", 1, MOST_YEARS, whole("years", years, 1, MOST_YEARS)),
        Slider("restart", "minutes to restart", 0, MOST_RESTART,
               whole("restart", restart, 0, MOST_RESTART)),
    )  # fmt: skip
    return View("checkpoints", {"writes": list(WRITES)}, controls, frame=ASKS)
