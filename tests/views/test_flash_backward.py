"""The backward pass in tiles without a browser: its counts against two loops; and refusals."""

from __future__ import annotations

import re

import pytest

from warpwise.errors import LaunchError
from warpwise.views import flash_backward
from warpwise.views.view import shown


def counted(tiles: int, owner: str, step: int) -> tuple[int, int, dict[str, list[int]]]:
    """Return tiles added to memory and tiles written once, and the parts in each sum."""
    parts = {"queries": [0] * tiles, "keys": [0] * tiles}
    added = written = 0
    arrays = {"queries": ("dQ",), "keys": ("dK", "dV")}
    (other,) = set(arrays) - {owner}
    turns = [(block, step) for block in range(tiles) for step in range(tiles)][:step]
    for block, meets in turns:
        parts[owner][block] += 1
        parts[other][meets] += 1
        added += len(arrays[other])
        written += len(arrays[owner]) * (meets == tiles - 1)
    return added, written, parts


@pytest.mark.parametrize("owner", flash_backward.OWNERS)
@pytest.mark.parametrize("tiles", [2, 5, 8])
def test_its_counts_are_those_of_two_loops(owner, tiles):
    opened = flash_backward.explorer(tiles, owner, 1)
    for step in range(1, tiles * tiles + 1):
        made = shown(opened.name, opened.data, {**opened.values, "step": step})
        added, written, parts = counted(tiles, owner, step)
        alive, memory, once = (row[1] for row in made["rows"])
        assert (int(alive), int(memory), int(once)) == (1, added, written)
        marks = re.findall(r'class="middle small"[^>]*>(\d+)<', made["picture"])
        assert list(map(int, marks)) == [*parts["queries"], *parts["keys"]]


def test_a_step_past_the_last_tile_is_the_last():
    opened = flash_backward.explorer(3, "keys", 9)
    past = shown(opened.name, opened.data, {**opened.values, "step": 64})
    assert past["text"] == opened.shown["text"]
    assert past["limits"] == {"step": [1, 9]}


def test_its_sentence_says_what_stays_and_what_is_added():
    assert flash_backward.explorer(4, "keys", 7).sentence == (
        "Tile 7 of 16: queries 3, keys 2. P is recomputed, dS is made from it, and both are "
        "forgotten. dK and dV of this block stay with it; its part of dQ is added to memory, "
        "7 tiles so far."
    )
    assert "parts of dK and dV are added to memory, 14 tiles so far" in (
        flash_backward.explorer(4, "queries", 7).sentence
    )


@pytest.mark.parametrize(
    "given", [{"tiles": 1}, {"tiles": 9}, {"owner": "rows"}, {"step": 0}, {"tiles": 2, "step": 5}]
)
def test_what_it_refuses(given):
    with pytest.raises(LaunchError):
        flash_backward.explorer(**given)
