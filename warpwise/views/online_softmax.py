"""The online softmax widget: a running maximum and sum of exponentials over values as they come.

When a value raises the maximum, the sum so far is multiplied by exp(old maximum - new maximum):
Milakov and Gimelshein 2018, arXiv 1805.02867, algorithm 3. Beside it stand the accesses to memory
that three ways of doing a softmax need for each element, and what a plain float32 sum of
exponentials would be. Left out: how threads share a row, and join their maxima and sums."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole
from warpwise.views.controls import Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.view import View

VALUES = 12  #: in each prepared row
MOST = 16  #: in a row of the caller's: more would not fit a narrow screen
SEEDS = 20  #: rows of random values
LABELS = {
    "random": "random",
    "rising": "rising",
    "falling": "falling",
    "spike": "one spike",
    "large": "large (overflow)",
    "small": "low (underflow)",
    "own": "your own",
}
# Sum and output are float32: exp is infinite there above 88.73, and 0 below -103.98.
LARGE = [84.2, 86.5, 85.1, 88.0, 87.3, 90.4, 86.6, 91.0, 85.8, 94.5, 89.7, 92.2]
SMALL = [-112.4, -108.1, -110.6, -105.2, -109.7, -107.3]
SMALL += [-104.6, -111.5, -106.4, -108.8, -105.9, -110.2]
ASKS = Frame("Softmax in one pass.", "At which values is the sum corrected?", ("input",))


def explorer(
    values: Iterable[float] | None = None,
    start: str | None = None,
    seed: int = 0,
    step: int | None = None,
) -> View:
    """Show rows of values to choose from, ``values`` among them.

    ``values``: 2 to 16 numbers from -1000 to 1000, shown to two decimals. ``start``: the row shown
    first, a key of LABELS. ``seed``: 0 to 19, of the random row. ``step``: how many values have
    been seen at first; without it, as many as it takes to see the last correction. Raises
    LaunchError for anything else."""
    rows = inputs() if values is None else inputs() | {"own": [_checked(values)]}
    start = one_of("start", start or ("own" if values is not None else "random"), rows)
    seed = whole("seed", seed, 0, SEEDS - 1)
    row = rows[start][seed % len(rows[start])]
    step = last_correction(row) if step is None else whole("step", step, 0, len(row))
    controls = (
        Choice("input", "values", {name: LABELS[name] for name in rows}, start),
        Slider("seed", "random seed", 0, SEEDS - 1, seed),
        Player("step", "seen", 0, len(row), step),
    )
    return View("online_softmax", {"inputs": rows}, controls, frame=ASKS)


def inputs() -> dict[str, list[list[float]]]:
    """Return the prepared rows by name: many random ones, by seed, and one of each other kind."""
    seeded = map(np.random.default_rng, range(SEEDS))
    drawn = [random.normal(0, 1.5, VALUES).round(2).tolist() for random in seeded]
    rising = np.linspace(-2.2, 2.2, VALUES).round(2).tolist()
    spike = [0.3, -0.6, 0.9, 0.1, -0.4, 0.5, 0.7, 6.0, -0.2, 0.4, 0.0, 0.8]
    return {
        "random": drawn,
        "rising": [rising],
        "falling": [rising[::-1]],
        "spike": [spike],
        "large": [LARGE],
        "small": [SMALL],
    }


def last_correction(row: list[float]) -> int:
    """Return how many values have been seen when the maximum has just risen for the last time."""
    return row.index(max(row)) + 1


def _checked(values: Iterable[float]) -> list[float]:
    row = [round(float(value), 2) for value in values]
    if not 2 <= len(row) <= MOST:
        raise LaunchError(f"values has {len(row)} numbers; it can have 2 to {MOST}")
    if not all(math.isfinite(value) and abs(value) <= 1000 for value in row):
        raise LaunchError(f"values has {max(row, key=abs)}; each can be from -1000 to 1000")
    return row
