"""The pipeline widget without a browser, against the model; and refusals."""

from __future__ import annotations

import random
import re

import pytest
from support.drawn_marks import Script

from warpwise.errors import LaunchError
from warpwise.model.pipeline import pipeline
from warpwise.views import pipeline as view

NAMES = ("stages", "copy", "product", "path", "tiles")
COPY = re.compile(r'data-is="tile (\d+): on its way, units (\d+) to (\d+)"')
PRODUCT = re.compile(r'data-is="product (\d+): units (\d+) to (\d+)"')
WAIT = re.compile(r'data-is="tensor cores: wait, units (\d+) to (\d+)"')


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("pipeline")


def cases() -> list[tuple[int, ...]]:
    draw = random.Random("pipeline")
    few = [(stages, 8, 4, 2, 8) for stages in range(1, 5)]
    for _ in range(60):
        copy = draw.randint(1, 24)
        rest = draw.randint(1, 24), draw.randint(1, copy), draw.randint(4, 16)
        few.append((draw.randint(1, 4), copy, *rest))
    return few


@pytest.mark.parametrize("case", cases(), ids=str)
def test_bars_and_numbers_are_the_models(script, case):
    on = dict(zip(NAMES, case, strict=True))
    made, found = script.shown({}, on, 620), pipeline(**on)
    picture = made["picture"]
    numbered = list(enumerate(found.trips))
    copies = [(k, trip.copy_begins, trip.copy_ends) for k, trip in numbered]
    products = [(k, trip.product_begins, trip.product_ends) for k, trip in numbered]
    assert [tuple(map(int, one)) for one in COPY.findall(picture)] == copies
    assert [tuple(map(int, one)) for one in PRODUCT.findall(picture)] == products
    waits = sum(int(to) - int(start) for start, to in WAIT.findall(picture))
    assert waits == found.total - on["tiles"] * on["product"]
    (_, total, _), (_, share, _), (_, waited, _) = made["rows"]
    assert (total, waited) == (found.total, waits)
    assert float(share.removesuffix(" %")) == pytest.approx(100 * float(found.busy), abs=0.0501)
    (pace,) = re.findall(r"a tile takes ([\d.]+) unit", made["text"])
    assert float(pace) == pytest.approx(float(max(found.bounds.values())), abs=0.0501)


def test_each_bar_is_as_long_as_its_units_on_the_axis_of_one_stage():
    bars = re.findall(r'<rect class="one" x="([\d.]+)"[^>]*width="([\d.]+)"', view.explorer().svg())
    scale = (620 - 84 - 14) / (8 * (8 + 4))
    starts = [84 + scale * trip.copy_begins for trip in pipeline(8, 2, 8, 4, 2).trips]
    assert [float(x) for x, _ in bars[:8]] == pytest.approx(starts, abs=0.06)
    assert {float(wide) for _, wide in bars[:8]} == {round(8 * scale - 1, 1)}


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ({"stages": 2}, "8 tiles in 2 stages take 52 units; the tensor cores work 61.5 % of them."),
        ({"stages": 1}, "a tile takes 12 units, set by the stages, for copies wait until one is "),
        ({"stages": 3}, "a tile takes 4 units, set by the products."),
        ({"stages": 4, "path": 6}, "a tile takes 6 units, set by the path from memory."),
        ({}, "A model, in units that stand for no clock: nothing was measured."),
    ],
)
def test_it_says_what_sets_the_pace(on, words):
    assert words in view.explorer(**on).sentence


def test_a_path_longer_than_the_copy_is_cut_to_it(script):
    on = view.explorer(copy=8, path=8).values | {"copy": 3}
    assert script.shown({}, on, 620)["rows"] == script.shown({}, on | {"path": 3}, 620)["rows"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stages": 5}, "stages is 5; it can be 1 to 4"),
        ({"copy": 25}, "copy is 25; it can be 1 to 24"),
        ({"product": 0}, "product is 0; it can be 1 to 24"),
        ({"copy": 3, "path": 4}, "path is 4; it can be 1 to 3"),
        ({"tiles": 3}, "tiles is 3; it can be 4 to 16"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        view.explorer(**wrong)
    assert message in str(caught.value)
