"""The paged cache widget without a browser, against the model; and refusals."""

from __future__ import annotations

import pytest

from warpwise.errors import LaunchError
from warpwise.model.paged import paged, reserved
from warpwise.views import paged_cache, view


def numbers(opened: view.View, **values) -> tuple[int, int]:
    """Return the places that are held, and those with a token."""
    rows = view.shown("paged_cache", opened.data, {**opened.values, **values})["rows"]
    return tuple(int(row[1].replace(",", "")) for row in rows[:2])


@pytest.mark.parametrize("block", paged_cache.BLOCKS)
@pytest.mark.parametrize("prefix", [0, 17, 48])
def test_its_rule_is_the_model_s(block, prefix):
    opened = paged_cache.explorer()
    for step in (0, 20, 35, 48, 70):
        values = {"block": str(block), "prefix": prefix, "step": step}
        held = paged(paged_cache.REQUESTS, step, block, prefix)
        assert numbers(opened, way="paged", **values) == (held.places, held.used)
        places = reserved(paged_cache.REQUESTS, step, paged_cache.LONGEST)
        assert numbers(opened, way="reserved", **values) == (places, sum(held.tokens))


def test_the_picture_has_the_numbers_of_the_blocks():
    picture = paged_cache.explorer("paged", 16, 40, 30).svg()
    held = paged(paged_cache.REQUESTS, 30, 16, 40)
    for number in (0, 1, *held.tables[2][2:-1]):
        assert f">{number}</text>" in picture


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"way": "lazy"}, "way is 'lazy'; it can be reserved, paged"),
        ({"block": 3}, "block is 3; it can be 1, 2, 4, 8, 16, 32"),
        ({"prefix": 49}, "prefix is 49; it can be 0 to 48"),
        ({"step": 71}, "step is 71; it can be 0 to 70"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        paged_cache.explorer(**wrong)
    assert str(caught.value) == message
