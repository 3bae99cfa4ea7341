"""The ZeRO widget without a browser, against the model; and refusals."""

from __future__ import annotations

import re

import pytest
from support.drawn_marks import Script

from warpwise.errors import LaunchError
from warpwise.model.zero import STAGES, elements_sent, kept
from warpwise.views import zero

PART = re.compile(r'data-is="stage (\d), (\w+): ([\d.,]+) GB"')
CASES = [
    (billions, ranks, micro, gradient)
    for billions in (1, 7, 100, 1000)
    for ranks in (2, 8, 64, 4096)
    for micro, gradient in ((1, 2), (8, 4))
]


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("zero")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bytes_and_traffic_are_the_model_s(script, case):
    billions, ranks, micro, gradient = case
    view = zero.explorer(billions, ranks, micro=micro, gradient=gradient)
    made = script.shown(view.data, view.values, 620)
    found = {
        (int(s), name): float(gb.replace(",", "")) for s, name, gb in PART.findall(made["picture"])
    }
    assert len(found) == 12
    for stage in STAGES:
        told = kept(1e9 * billions, ranks, stage, gradient)
        for name in ("weights", "gradients", "state"):
            assert found[stage, name] == pytest.approx(getattr(told, name) / 1e9, rel=0.0051)
        sent = elements_sent(1.0, ranks, stage, micro)
        assert made["rows"][stage][1] == pytest.approx(sent, abs=0.0051)


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ({"billions": 1, "ranks": 8}, "All of it fits in 80 GB."),
        ({"billions": 13, "ranks": 64}, "In 80 GB stage 1 is the first to fit"),
        ({"billions": 34, "ranks": 64}, "In 80 GB stage 2 is the first to fit"),
        ({"billions": 100, "ranks": 64}, "In 80 GB stage 3 is the first to fit"),
        ({"billions": 1000, "ranks": 64}, "None fits in 80 GB."),
    ],
)
def test_it_says_which_stage_fits_first(on, words):
    assert words in zero.explorer(**on).sentence


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"billions": 3}, "billions is 3; it can be 1, 2, 4"),
        ({"ranks": 3}, "ranks is 3; it can be 2, 4, 8"),
        ({"memory": 24}, "memory is '24'; it can be 40, 80, 141, 192"),
        ({"micro": 0}, "micro is 0; it can be 1 to 16"),
        ({"gradient": 3}, "gradient is 3; it can be 2, 4"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        zero.explorer(**wrong)
    assert message in str(caught.value)
