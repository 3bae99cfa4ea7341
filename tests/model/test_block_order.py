"""The order of blocks: each once, and the panels of their waves by formulas."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, sqrt

import pytest

from warpwise.errors import LaunchError
from warpwise.model.block_order import ORDERS, panels, places


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("side", "group"), [(1, 1), (8, 3), (32, 8), (32, 12)])
def test_each_block_of_the_grid_comes_once(order, side, group):
    everywhere = {(row, column) for row in range(side) for column in range(side)}
    found = places(order, side, group)
    assert len(found) == side * side and set(found) == everywhere


@pytest.mark.parametrize("slots", [32, 64, 96, 128])
def test_a_wave_of_whole_rows_reads_all_columns(slots):
    assert panels(places("row", 32)[:slots]) == 32 + ceil(slots / 32)


@pytest.mark.parametrize(("group", "slots"), [(8, 128), (4, 64), (16, 96), (8, 129)])
def test_a_wave_in_a_group_reads_its_rows_and_as_many_columns_as_it_fills(group, slots):
    assert panels(places("grouped", 32, group)[:slots]) == group + ceil(slots / group)


def test_groups_of_one_row_are_rows():
    assert places("grouped", 16, 1) == places("row", 16)


def test_a_last_group_has_the_rows_that_are_left():
    assert places("grouped", 5, 3)[15:] == tuple(
        (row, column) for column in range(5) for row in (3, 4)
    )


def test_the_curve_goes_from_a_block_to_its_neighbour_and_fills_each_quarter_whole():
    curve = places("hilbert", 16)
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise(curve))
    for quarter in range(4):
        assert panels(curve[64 * quarter : 64 * (quarter + 1)]) == 8 + 8


@pytest.mark.parametrize("order", ORDERS)
def test_no_wave_reads_fewer_than_a_square(order):
    found = places(order, 32)
    for slots in range(1, 300):
        assert panels(found[:slots]) >= 2 * sqrt(slots)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("spiral", 8), "order is 'spiral'; it can be row, grouped, hilbert"),
        (("hilbert", 12), "side is 12; it can be 1, 2, 4"),
        (("grouped", 8, 9), "group is 9; it can be 1 to 8"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        places(*wrong)
    assert message in str(caught.value)
