"""The tiles widget's counts, from its script without a browser, against traced kernels."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support.matmuls import product

from warpwise.errors import LaunchError
from warpwise.metrics import SECTOR_BYTES
from warpwise.views import tiles, view


def counts(n: int, tile: int, wider: bool, step: int) -> tuple[int, int, int, int]:
    """Return the widget's counts at a step counted from 1.

    They are the elements read in tiles and by a naive kernel, and the sectors and requests of A's
    tile."""
    opened = tiles.explorer(n, tile)
    shown = view.shown(
        "tiles", opened.data, {"n": n, "tile": str(tile), "wider": wider, "step": step}
    )
    (_, tiled, _), (_, naive, _), (_, sectors, requests) = shown["rows"]
    return (
        int(tiled.replace(",", "")),
        int(naive.replace(",", "")),
        sectors,
        int(requests.split()[1]),
    )


@pytest.mark.parametrize("tile", tiles.TILES)
@pytest.mark.parametrize("sides", [1, 2, 2.25, 3, 4.75])
def test_all_reads_are_those_of_traced_kernels(tile, sides):
    n = int(tile * sides)
    last = (-(-n // tile)) ** 3
    tiled, naive, _, _ = counts(n, tile, False, last)
    assert tiled * tiles.ITEM_BYTES == product(n, tile, False).launch.global_load_bytes
    assert naive * tiles.ITEM_BYTES == product(n, tile, False, naive=True).launch.global_load_bytes


@pytest.mark.parametrize("wider", [False, True])
@pytest.mark.parametrize(
    ("n", "tile"),
    [(8, 4), (13, 4), (16, 8), (20, 8), (24, 8), (32, 16), (49, 16), (64, 32), (70, 32)],
)
def test_the_sectors_of_all_steps_are_those_of_the_traced_line(n, tile, wider):
    steps = [counts(n, tile, wider, step) for step in range(1, (-(-n // tile)) ** 3 + 1)]
    traced = product(n, tile, wider).of_a
    assert sum(sectors for _, _, sectors, _ in steps) == traced.global_load_sectors
    assert sum(requests for *_, requests in steps) == traced.global_load_requests
    assert all(before[:2] < after[:2] for before, after in pairwise(steps))


def test_the_course_s_own_figures():
    """N = 256 in tiles of 16: each element is read 16 times, and not 256."""
    assert counts(256, 16, False, 16**3)[:2] == (2_097_152, 33_554_432)


def test_one_column_more_costs_a_full_sector_in_each_row():
    """A row of a tile of 8 goes from one sector to two, one of a tile of 32 from four to five."""
    assert counts(64, 8, False, 1)[2:] == (8, 2) and counts(64, 32, False, 1)[2:] == (4 * 32, 32)
    assert counts(64, 8, True, 1)[2] == 8 + 7
    assert counts(64, 32, True, 1)[2] == 4 * 32 + 32 - 32 * tiles.ITEM_BYTES // SECTOR_BYTES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tile": 7}, "tile is 7; it can be 4, 8, 16, 32"),
        ({"tile": "16"}, "tile is '16'; it can be 4, 8, 16, 32"),
        ({"n": 15}, "n is 15; it can be 16 to 256"),
        ({"n": 257}, "n is 257; it can be 16 to 256"),
        ({"step": 65}, "step is 65; it can be 1 to 64"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    with pytest.raises(LaunchError) as caught:
        tiles.explorer(**arguments)
    assert message in str(caught.value)


def test_its_sentence_before_any_script():
    assert str(tiles.explorer(64, 16, wider=True, step=2)) == (
        "Step 2 of 64: tile 0, 1 of A and 1, 0 of B are in shared memory, for 0, 0 of C. "
        "1,024 elements read so far, by a naive kernel 16 times as many. "
        "This tile of A takes 46 sectors in 8 requests."
    )
