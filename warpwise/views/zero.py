"""The ZeRO widget: what a rank keeps and sends, by stage, beside what a GPU holds.

Bytes and traffic are those of ``warpwise.model.zero``, which ``zero.js`` follows for every place of
the controls; a test holds the two together. Activations are left out."""

from __future__ import annotations

from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Choice, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

BILLIONS = (1, 2, 4, 7, 13, 20, 34, 70, 100, 175, 280, 405, 671, 1000)
MEMORY = {"40": "40 GB", "80": "80 GB", "141": "141 GB", "192": "192 GB"}
LEAST_RANKS, MOST_RANKS = 1, 12  #: as powers of 2; one rank sends nothing
MOST_MICRO = 16
ASKS = Frame(
    "What a rank keeps.",
    "Which stage makes the model fit, and what more has to travel for it?",
    ("model", "ranks", "micro"),
)


def explorer(
    billions: int = 100, ranks: int = 64, memory: int = 80, micro: int = 1, gradient: int = 2
) -> View:
    """Show a model of ``billions`` of parameters on ``ranks``, a power of 2 from 2 to 4,096.

    ``memory``: of a GPU, in GB, for the line. ``micro``: micro-batches of a step, 1 to 16.
    ``gradient``: bytes of one, 2 or 4. Raises LaunchError for anything else."""
    place = BILLIONS.index(one_of("billions", billions, BILLIONS))
    power = [2**k for k in range(MOST_RANKS + 1)]
    one_of("memory", str(memory), MEMORY)
    controls = (
        Slider("model", "parameters", 0, len(BILLIONS) - 1, place),
        Slider("ranks", "ranks", LEAST_RANKS, MOST_RANKS,
               power.index(one_of("ranks", ranks, power[LEAST_RANKS:]))),
        Slider("micro", "micro-batches", 1, MOST_MICRO, whole("micro", micro, 1, MOST_MICRO)),
        Choice("memory", "memory of a GPU", MEMORY, str(memory)),
        Choice("gradient", "bytes of a gradient", {"2": "2", "4": "4"},
               str(one_of("gradient", gradient, (2, 4)))),
    )  # fmt: skip
    return View("zero", {"billions": list(BILLIONS)}, controls, frame=ASKS)
