"""The schedules widget without a browser, against the model; and refusals."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from support.drawn_marks import Script

from warpwise.errors import LaunchError
from warpwise.model.pipeline_schedule import SCHEDULES, schedule
from warpwise.views import schedules

BAR = re.compile(
    r'data-is="stage (\d+), micro-batch (\d+): ([a-z ]+)(?:, part (\d))?, '
    r'units ([\d.]+) to ([\d.]+)"'
)
WORDS = {"F": "forward", "B": "backward", "I": "gradient of inputs", "W": "gradient of weights"}
CASES = [
    (name, p, m, v)
    for name in SCHEDULES
    for p, m in ((2, 2), (3, 6), (4, 8), (5, 20), (8, 32))
    for v in ((2, 4) if name == "interleaved" else (1,))
]


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("schedules")


@pytest.mark.parametrize(("name", "p", "m", "v"), CASES)
def test_bars_and_numbers_are_the_model_s(script, name, p, m, v):
    view = schedules.explorer(name, p, m, max(2, v))
    made, found = script.shown(view.data, view.values, 620), schedule(name, p, m, v)
    bars = {
        (int(s), int(k), what, int(part or 0), float(begins), float(ends))
        for s, k, what, part, begins, ends in BAR.findall(made["picture"])
    }
    told = {
        (one.stage, one.micro, WORDS[one.kind], one.chunk, one.begins / v, one.ends / v)
        for stage in found.passes
        for one in stage
    }
    assert bars == told
    (_, bubble, _), (_, total, _), (_, held, _) = made["rows"]
    assert float(bubble.removesuffix(" %")) == pytest.approx(100 * float(found.bubble), abs=0.0501)
    assert total == pytest.approx(float(found.total), abs=0.0051)
    assert held == pytest.approx(float(found.held[0]), abs=0.0051)
    assert f"all together {float(sum(found.held, Fraction(0))):g}." in made["text"]


def test_interleaved_takes_whole_rounds(script):
    view = schedules.explorer("interleaved", 4, 8)
    made = script.shown(view.data, view.values | {"micro": 9}, 620)
    assert "4 stages and 12 micro-batches in 2 parts" in made["text"]
    assert made["disabled"] == {"chunks": False} and made["outputs"] == {"micro": "12"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "2F2B"}, "name is '2F2B'; it can be all forward"),
        ({"stages": 9}, "stages is 9; it can be 2 to 8"),
        ({"stages": 4, "micro": 3}, "micro is 3; it can be 4 to 32"),
        ({"chunks": 1}, "chunks is 1; it can be 2 to 4"),
        ({"name": "interleaved", "micro": 9}, "9 micro-batches are no whole rounds of 4 stages"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        schedules.explorer(**wrong)
    assert message in str(caught.value)
