"""The rungs widget without a browser: its bars by hand, and refusals."""

from __future__ import annotations

import re

import pytest

from warpwise.errors import LaunchError
from warpwise.views import rungs, view
from warpwise.views.rungs import Rung

TWO = (
    Rung("plain", {"L1": 4, "issue slots": 1}, 5.25),
    Rung("tiled", {"L1": 0, "issue slots": 0.5}),
)


def shown(opened: view.View, **values):
    return view.shown("rungs", opened.data, {**opened.values, **values})


def widths(picture: str, look: str) -> list[float]:
    found = re.findall(rf'<rect class="{look}" [^>]*width="([\d.]+)" height="2[06]"', picture)
    return [float(width) for width in found]


def test_it_says_what_is_scarce_and_what_was_measured():
    first, second = (shown(rungs.explorer(TWO), step=step) for step in (1, 2))
    assert [row[1] for row in first["rows"]] == ["L1", "4", "5.25"]
    assert [row[1] for row in second["rows"]] == ["issue slots", "0.5", "nothing"]
    assert first["text"] == (
        "Step 1 of 2, plain. Scarcest: L1, with 4 clocks for a warp's multiply-add. Measured: 5.25."
    )
    assert second["text"].endswith("issue slots, with 0.5 clocks for a warp's multiply-add.")
    assert TWO[0].scarce == "L1" and TWO[1].scarce == "issue slots"


def test_a_bar_is_as_long_as_its_logarithm():
    picture = shown(rungs.explorer(TWO))["picture"]
    (longest,), (other,) = widths(picture, "two"), widths(picture, "one")
    assert longest / other == pytest.approx(8 / 6, abs=0.01)  # 4 and 1 are 2^8 and 2^6 times 1/64


def test_behind_a_step_stand_the_bars_of_the_one_before():
    picture = shown(rungs.explorer(TWO), step=2)["picture"]
    assert len(widths(picture, "faint")) == 2 and len(widths(picture, "two")) == 1
    assert not widths(picture, "one")  # nothing is drawn of what is not used


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rungs.explorer(TWO, step=3), "step is 3; it can be 1 to 2"),
        (lambda: rungs.explorer(()), "there are no rungs: give at least one"),
        (
            lambda: rungs.explorer((TWO[0], Rung("other", {"L2": 1, "issue slots": 1}))),
            "other: give clocks, 0 or more, of L1, issue slots",
        ),
        (
            lambda: rungs.explorer((Rung("less", {"L1": -1}),)),
            "less: give clocks, 0 or more, of L1",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(LaunchError) as caught:
        call()
    assert message in str(caught.value)
