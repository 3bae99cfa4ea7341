"""The schedules widget: a pipeline's stages over time, their bubble, and what they hold.

Passes and their times are those of ``warpwise.model.pipeline_schedule``, which ``schedules.js``
follows for every place of the controls; a test holds the two together."""

from __future__ import annotations

from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole
from warpwise.model.pipeline_schedule import SCHEDULES
from warpwise.views.controls import Choice, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

MOST_STAGES, MOST_MICRO, MOST_CHUNKS = 8, 32, 4
ASKS = Frame(
    "A pipeline of layers.",
    "Which schedule waits least, and which holds least?",
    ("name", "stages", "micro"),
)


def explorer(name: str = "1F1B", stages: int = 4, micro: int = 8, chunks: int = 2) -> View:
    """Show a schedule of 2 to 8 ``stages`` and ``micro`` batches, from as many as stages to 32.

    ``chunks``: 2 to 4 parts of a stage, for "interleaved", whose micro-batches are whole rounds.
    Raises LaunchError for anything else."""
    name = one_of("name", name, SCHEDULES)
    stages = whole("stages", stages, 2, MOST_STAGES)
    micro = whole("micro", micro, stages, MOST_MICRO)
    if name == "interleaved" and micro % stages:
        raise LaunchError(f"{micro} micro-batches are no whole rounds of {stages} stages")
    controls = (
        Choice("name", "schedule", {one: one for one in SCHEDULES}, name),
        Slider("stages", "stages", 2, MOST_STAGES, stages),
        Slider("micro", "micro-batches", stages, MOST_MICRO, micro),
        Slider("chunks", "parts of a stage", 2, MOST_CHUNKS,
               whole("chunks", chunks, 2, MOST_CHUNKS)),
    )  # fmt: skip
    return View("schedules", {}, controls, frame=ASKS)
