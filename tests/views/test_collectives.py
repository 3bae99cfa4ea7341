"""The collectives widget without a browser, against the model; and refusals."""

from __future__ import annotations

import re

import pytest
from support.drawn_marks import Script

from warpwise.errors import LaunchError
from warpwise.model.collectives import WAYS, cost, ring_seconds, sends
from warpwise.views import collectives

CAME = re.compile(r'data-is="rank (\d+), (?:piece|from rank) (\d+): [^"]*came from rank (\d+)"')
TIME = re.compile(r"rounds?, ([\d.]+) (µs|ms|s) by")
UNIT = {"µs": 1e-6, "ms": 1e-3, "s": 1}


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("collectives")


def at(way, p, size=20, links="nvlink", step=1):
    view = collectives.explorer(way, p, size, links, step)
    return view.data, view.values


@pytest.mark.parametrize("links", collectives.LINKS)
@pytest.mark.parametrize("p", [2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize("way", WAYS)
def test_rounds_bytes_and_time_are_the_model_s(script, way, p, links):
    data, values = at(way, p, links=links)
    made, found, link = (
        script.shown(data, values, 620),
        cost(way, p, 2**20),
        collectives.LINKS[links],
    )
    seconds = found.seconds(link.latency, link.rate)
    if link.ring:
        seconds = ring_seconds(way, p, 2**20, link.latency, link.rate)
    shown, unit = TIME.search(made["text"]).groups()
    assert float(shown) * UNIT[unit] == pytest.approx(seconds, rel=0.006)
    assert made["rows"][0][1] == found.rounds
    assert made["rows"][1][1] == pytest.approx(found.most_bytes_sent / 2**20, abs=0.0051)


@pytest.mark.parametrize("p", [2, 5, 8])
@pytest.mark.parametrize("way", WAYS)
def test_what_comes_in_each_round_is_what_the_model_sends(script, way, p):
    for step, each in enumerate(sends(way, p), 1):
        data, values = at(way, p, step=step)
        found = {
            tuple(map(int, one)) for one in CAME.findall(script.shown(data, values, 620)["picture"])
        }
        told = set()
        for one in each:
            columns = range(p) if one.piece < 0 else [one.piece]
            if way == "all-to-all":
                columns = [one.source]
            told |= {(one.target, c, one.source) for c in columns}
        assert found == told


@pytest.mark.parametrize("p", [2, 5, 16])
def test_at_the_end_all_have_what_they_should(script, p):
    whole = {"ring all-reduce": p * p, "tree all-reduce": p * p, "reduce-scatter": p}
    for way in WAYS:
        data, values = at(way, p, step=len(sends(way, p)))
        picture = script.shown(data, values, 620)["picture"]
        if way in whole:
            assert picture.count("the whole sum") >= whole[way]
            assert len(re.findall(r'data-is="[^"]*the whole sum', picture)) == whole[way]
        else:
            assert "not here" not in picture


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"way": "star"}, "way is 'star'; it can be ring all-reduce"),
        ({"p": 17}, "p is 17; it can be 2 to 16"),
        ({"size": 9}, "size is 9; it can be 10 to 32"),
        ({"links": "PCIe"}, "links is 'PCIe'; it can be nvlink, network, ici"),
        ({"p": 4, "step": 7}, "step is 7; it can be 0 to 6"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        collectives.explorer(**wrong)
    assert message in str(caught.value)
