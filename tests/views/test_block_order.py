"""The block order widget without a browser, against the model; and refusals."""

from __future__ import annotations

import re

import pytest

from warpwise.errors import LaunchError
from warpwise.model.block_order import ORDERS, panels, places
from warpwise.views import block_order, view

SIDE = block_order.SIDE


def numbers(opened: view.View, **values) -> tuple[int, int]:
    """Return the panels of the wave, and of all waves, as the widget says."""
    shown = view.shown("block_order", opened.data, {**opened.values, **values})
    return tuple(int(row[1].replace(",", "")) for row in shown["rows"])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("group", [1, 8, 12])
def test_its_rule_is_the_model_s(order, group):
    opened = block_order.explorer(order, group)
    found = places(order, SIDE, group)
    for slots in (16, 100, 128, 132, 148, 256):
        waves = [found[first : first + slots] for first in range(0, len(found), slots)]
        for wave in (1, 2, len(waves)):
            said = numbers(opened, slots=slots, wave=wave)
            assert said == (panels(waves[wave - 1]), sum(map(panels, waves)))


def test_the_picture_has_the_wave_s_blocks_and_its_panels():
    opened = block_order.explorer("hilbert", slots=128, wave=3)
    looks = re.findall(r'<rect class="(one|faint|two)"', opened.svg())
    # each look is in the legend once, too
    assert [looks.count(look) - 1 for look in ("one", "faint", "two")] == [128, 256, 24]


def test_a_wave_beyond_the_last_is_the_last():
    opened = block_order.explorer(slots=128, wave=8)
    assert numbers(opened, slots=256) == numbers(opened, slots=256, wave=4)
    assert "Wave 8 of 8: 128 blocks in 4 rows and 32 columns read 36 panels" in str(opened)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"order": "spiral"}, "order is 'spiral'; it can be row, grouped, hilbert"),
        ({"group": 33}, "group is 33; it can be 1 to 32"),
        ({"slots": 15}, "slots is 15; it can be 16 to 256"),
        ({"slots": 128, "wave": 9}, "wave is 9; it can be 1 to 8"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        block_order.explorer(**wrong)
    assert message in str(caught.value)
