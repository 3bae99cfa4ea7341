"""The swizzle widget without a browser, against the model; and refusals."""

from __future__ import annotations

import re

import pytest
from support.drawn_marks import Script

from warpwise.errors import LaunchError
from warpwise.model.swizzle import PITCHES, SWIZZLES, WAYS, Tile
from warpwise.views import swizzle

CHUNK = re.compile(
    r'<rect class="(one|two|empty)" x="([\d.]+)"[^>]*data-is="row (\d+), chunk (\d+): '
    r"line (\d+), banks (\d+) to \d+, (?:wavefront|phase) (\d+)"
)


@pytest.fixture(scope="module")
def script() -> Script:
    return Script("swizzle")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", PITCHES)
@pytest.mark.parametrize("mode", SWIZZLES)
def test_places_and_wavefronts_are_the_models(script, mode, row, way):
    opened, tile = swizzle.explorer(mode, row, way), Tile(row, mode)
    phases = tile.phases(way)
    for number, phase in enumerate(phases, 1):
        made = script.shown(opened.data, opened.values | {"phase": number}, 620)
        fewest = len(phases)
        wanted = [tile.wavefronts(phase), sum(map(tile.wavefronts, phases))]
        assert [said for _, said, _ in made["rows"]] == wanted
        assert made["rows"][1][2] == f"of at least {fewest}"
        drawn = [found.groups() for found in CHUNK.finditer(made["picture"])]
        assert len(drawn) == 2 * 8 * len(phases)  # in the tile, and in shared memory
        for look, _, r, c, line, bank, wave in drawn:
            at = int(r), int(c)
            assert (int(line), int(bank) // 4) == tile.place(*at)
            assert (look == "empty") == (at not in phase)
            if look != "empty":
                assert (look == "two") == (int(wave) > 1)
        assert max(int(wave) for look, *_, wave in drawn if look != "empty") == wanted[0]


def test_the_numbers_below_are_the_chunks_in_each_group_of_banks():
    counts = re.findall(
        r'class="(?:inside strong|middle small)"[^>]*>(\d+)<', swizzle.explorer(0).svg()
    )
    assert counts[-8:] == ["8", *"0000000"]
    conflict_free = re.findall(r'class="inside strong"[^>]*>(\d+)<', swizzle.explorer(128).svg())
    assert conflict_free == ["1"] * 8


@pytest.mark.parametrize(
    ("opened", "rule"),
    [
        (swizzle.explorer(128), "puts chunk c of row r at place c XOR (r mod 8) of its row"),
        (swizzle.explorer(64, 64), "at place c XOR (r div 2 mod 4) of its row"),
        (swizzle.explorer(32, 32), "at place c XOR (r div 4 mod 2) of its row"),
        (swizzle.explorer(128, 64), "puts place g of line l at g XOR (l mod 8). Phase"),
        (swizzle.explorer(32, 64), "g XOR (l mod 2); TMA takes no rows longer than that. Phase"),
        (swizzle.explorer(0), "chunks lie in their order. Phase 1 of 16 reads chunk 0 of rows 0 "),
    ],
)
def test_it_says_the_rule(opened, rule):
    assert rule in opened.sentence


def test_it_says_which_chunks_and_what_they_take():
    assert (
        "chunk 3 of rows 8 to 15: all of them lie in banks 12 to 15, so it takes 8 wavefronts."
        in (swizzle.explorer(0, phase=8).sentence)
    )
    assert (
        "8 chunks from row 2, chunk 0 on: each lies in banks of its own, so it takes 1 wavef"
        in (swizzle.explorer(64, 64, "along", phase=2).sentence)
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mode": 16}, "mode is 16; it can be 0, 32, 64, 128"),
        ({"row": 256}, "row is 256; it can be 32, 64, 128"),
        ({"way": "up"}, "way is 'up'; it can be down, along"),
        ({"row": 32, "phase": 5}, "phase is 5; it can be 1 to 4"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        swizzle.explorer(**wrong)
    assert message in str(caught.value)
