"""The dependence widget: the inputs of a launch, and which of them an element of a result uses.

Drawn is what somebody else found out, such as ``warpwise.labs.probes``: each input is a cell that
is used, missing, one too many, not used, or was not tried. Of an array the last axis runs across
and all others run down; a vector goes on in the next row. Left out: values, and all but a part of
an array that is too large to draw."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpwise.errors import LaunchError
from warpwise.views.controls import Stepper
from warpwise.views.view import Json, View

USES = ("untried", "unused", "used", "missing", "extra")  #: what is known of an input
WRONG = ("missing", "extra")
MOST_ROWS, MOST_COLUMNS = 32, 48  #: of an array that are drawn
VECTOR = 32  #: elements of a vector in a row


def explorer(element: str, inputs: Mapping[str, np.ndarray]) -> View:
    """Show what ``element`` depends on, opened at the first input that is missing or too many.

    ``inputs`` maps names to arrays of the words in ``USES``, each of the input's own shape; a
    number by itself has the shape (). Raises LaunchError for other words, and without inputs."""
    inputs = {name: np.asarray(uses) for name, uses in inputs.items()}
    if not any(uses.size for uses in inputs.values()):
        raise LaunchError("there are no inputs to show")
    for name, uses in inputs.items():
        if not np.isin(uses, USES).all():
            raise LaunchError(f"{name} has other words than {', '.join(USES)}")
    parts = [_part(name, uses) for name, uses in inputs.items() if uses.size]
    drawn = "".join(row for part in parts for row in part["rows"])
    wrong = [i for i, code in enumerate(drawn) if USES[int(code)] in WRONG]
    counts = [sum(int((uses == use).sum()) for uses in inputs.values()) for use in USES]
    data = {"element": element, "parts": parts, "counts": counts}
    first = wrong[0] if wrong else 0
    return View("dependence", data, (Stepper("cell", "input", 0, len(drawn) - 1, first),))


def _part(name: str, uses: np.ndarray) -> Json:
    """Return an input as rows of digits, and where they begin if it is drawn in part."""
    width = uses.shape[-1] if uses.ndim > 1 else VECTOR
    codes = [str(USES.index(use)) for use in uses.ravel().tolist()]
    rows = ["".join(codes[i : i + width]) for i in range(0, len(codes), width)]
    telling = [np.flatnonzero(np.isin(uses.ravel(), words)) for words in (WRONG, ("used",))]
    at = next((int(found[0]) for found in telling if found.size), 0)
    top = _begin(at // width, len(rows), MOST_ROWS)
    left = _begin(at % width, width, MOST_COLUMNS)
    return {
        "name": name,
        "shape": list(uses.shape),
        "width": width,
        "first": [top, left],
        "rows": [row[left : left + MOST_COLUMNS] for row in rows[top : top + MOST_ROWS]],
    }


def _begin(wanted: int, size: int, most: int) -> int:
    """Return where to begin a window in which a place is seen: at 0 if that does."""
    return 0 if wanted < most or size <= most else min(wanted, size - most)
