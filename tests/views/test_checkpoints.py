"""The checkpoints widget without a browser, against the model; and refusals."""

from __future__ import annotations

import re

import pytest
from support.drawn_marks import Script

from warpwise.errors import LaunchError
from warpwise.model.checkpoints import daly, useful_share, young
from warpwise.views import checkpoints

UNITS = {"s": 1, "min": 60, "h": 3600}
CASES = [
    (gpus, years, write, restart, interval)
    for gpus, interval in ((8, 240), (1024, 60), (16_384, 20), (131_072, 1))
    for years, write, restart in ((6, 60, 10), (50, 1, 0), (1, 600, 60))
]


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("checkpoints")


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * UNITS[unit]


def share(text: str) -> float:
    return float(re.search(r"([\d.]+) %", text)[1]) / 100


@pytest.mark.parametrize("case", CASES, ids=str)
def test_shares_and_intervals_are_the_model_s(script, case):
    gpus, years, write, restart, interval = case
    view = checkpoints.explorer(*case)
    rows = script.shown(view.data, view.values, 620)["rows"]
    between = years * 365 * 86_400 / gpus
    best = daly(write, between)
    assert seconds(rows[0][1]) == pytest.approx(between, rel=0.0051)
    now = useful_share(60 * interval, write, between, 60 * restart)
    assert share(rows[1][1]) == pytest.approx(now, abs=0.000501)
    assert seconds(rows[2][1]) == pytest.approx(best, rel=0.0051)
    most = useful_share(best, write, between, 60 * restart)
    assert share(rows[2][2]) == pytest.approx(most, abs=0.000501)
    assert seconds(rows[3][1]) == pytest.approx(young(write, between), rel=0.0051)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gpus": 4}, "gpus is 4; it can be 8, 16"),
        ({"years": 0}, "years is 0; it can be 1 to 50"),
        ({"write": 3}, "write is 3; it can be 1, 2, 5"),
        ({"restart": 61}, "restart is 61; it can be 0 to 60"),
        ({"interval": 0}, "interval is 0; it can be 1 to 240"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        checkpoints.explorer(**wrong)
    assert message in str(caught.value)
