"""Heads that share keys and values: reads counted one by one, and what a byte is worth."""

from __future__ import annotations

import pytest

from warpwise.errors import LaunchError
from warpwise.model.heads import decoding


@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize(("heads", "kv_heads"), [(32, 32), (32, 8), (64, 1)])
@pytest.mark.parametrize("packed", [False, True])
def test_flop_per_byte_is_what_the_loops_count(heads, kv_heads, queries, packed):
    d, flop, read = 8, 0, 0
    tiles: dict[int, int] = {}
    for head in range(heads):
        owner = head * kv_heads // heads
        tiles[owner if packed else head] = tiles.get(owner if packed else head, 0) + queries
        flop += queries * 2 * (2 * d)  # a score and its part of the output
    read = len(tiles) * 2 * d * 2
    found = decoding(heads, kv_heads, queries, packed)
    assert found.reads == len(tiles) and {found.rows} == set(tiles.values())
    assert found.flop_per_byte == flop / read


def test_rows_of_a_tile_fill_up():
    assert decoding(32, 8).filled == 4 / 16
    assert decoding(32, 1).filled == 1
    assert decoding(64, 8, queries=3).filled == 24 / 32


def test_one_vector_for_all_heads_is_worth_nearly_twice_as_much():
    """As FlashMLA's notes say: about 2 x heads x queries."""
    found = decoding(128, 1, mla=True)
    assert found.flop_per_byte == pytest.approx(2 * 128, rel=0.06)
    assert found.flop_per_byte == 128 * (2 * 576 + 2 * 512) / (2 * 576)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((32, 5), "32 heads do not divide into 5 groups of equal size"),
        ((32, 64), "kv_heads is 64; it can be 1 to 32"),
        ((32, 2, 1, True, True), "kv_heads is 2; it can be 1 to 1"),
        ((32, 8, 0), "queries is 0; it can be 1 or more"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        decoding(*wrong)
    assert str(caught.value) == message
