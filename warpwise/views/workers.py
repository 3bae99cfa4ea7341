"""The workers widget: equal tasks for one fast worker, and for many slow ones of the same power.

A worker that is ``slower`` times slower takes ``slower`` ** 3 times less power, as voltage falls
with the clock and power goes with voltage squared times clock; so as many of them take the power of
the fast one. A task takes the fast worker one second, and no task waits for another. Modelled: all
of it."""

from __future__ import annotations

from warpwise.model.arguments import whole
from warpwise.views.controls import Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

MOST_TASKS, MOST_SLOWER = 128, 4
ASKS = Frame(
    "One fast worker, or many slow ones.",
    "From how many tasks on are the slow ones done first?",
    ("tasks", "slower"),
)


def explorer(tasks: int = 8, slower: int = 4) -> View:
    """Show ``tasks`` tasks, 1 to 128, and workers that are ``slower`` times slower, 1 to 4.

    Raises LaunchError for anything else."""
    tasks = whole("tasks", tasks, 1, MOST_TASKS)
    slower = whole("slower", slower, 1, MOST_SLOWER)
    controls = (
        Slider("tasks", "tasks", 1, MOST_TASKS, tasks),
        Slider("slower", "times slower", 1, MOST_SLOWER, slower),
    )
    return View("workers", {}, controls, frame=ASKS)
