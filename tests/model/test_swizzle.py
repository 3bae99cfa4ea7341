"""Swizzles: by the rules of the PTX ISA, free of conflicts, and counted as the simulator counts."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise.errors import LaunchError
from warpwise.model.swizzle import CHUNK, PITCHES, SWIZZLES, WAYS, Tile, swizzled
from warpwise.simt.lanes.counting import count_wavefronts

#: Rows as long as the swizzle: the place of chunk c of row r in its row.
BY_ROW = {
    128: lambda r, c: c ^ (r & 7),
    64: lambda r, c: c ^ (r >> 1 & 3),
    32: lambda r, c: c ^ (r >> 2 & 1),
}


@pytest.mark.parametrize("swizzle", BY_ROW)
def test_a_chunk_stays_in_its_row_at_the_place_of_the_rule(swizzle):
    across = swizzle // CHUNK
    tile = Tile(swizzle, swizzle)
    for row in range(16):
        for chunk in range(across):
            line, group = tile.place(row, chunk)
            assert 8 * line + group == across * row + BY_ROW[swizzle](row, chunk)


@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_every_byte_has_one_place_and_chunks_stay_whole(swizzle):
    plain = np.arange(4096)
    found = swizzled(plain, swizzle)
    assert np.array_equal(np.sort(found), plain) and np.array_equal(found % CHUNK, plain % CHUNK)
    assert np.array_equal(swizzled(found, swizzle), plain)


def counted(tile: Tile, phase) -> int:
    """Count a phase as the simulator counts the first eight lanes of a warp."""
    addresses = np.zeros((1, 32), np.int64)
    addresses[0, :8] = [swizzled(tile.pitch * r + CHUNK * c, tile.swizzle) for r, c in phase]
    return count_wavefronts(addresses, np.arange(32)[None, :] < 8, CHUNK)[0]


@pytest.mark.parametrize("pitch", PITCHES)
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_wavefronts_are_the_simulators(pitch, swizzle):
    tile = Tile(pitch, swizzle)
    for way in WAYS:
        phases = tile.phases(way)
        assert sorted(chunk for phase in phases for chunk in phase) == [
            (row, chunk) for row in range(16) for chunk in range(pitch // CHUNK)
        ]
        assert [tile.wavefronts(phase) for phase in phases] == [counted(tile, p) for p in phases]


@pytest.mark.parametrize("pitch", PITCHES)
def test_a_swizzle_no_narrower_than_the_rows_is_free_of_conflicts(pitch):
    for swizzle in SWIZZLES:
        tile = Tile(pitch, swizzle)
        down = {tile.wavefronts(phase) for phase in tile.phases("down")}
        assert down == {max(1, pitch // max(16, swizzle))}
        assert {tile.wavefronts(phase) for phase in tile.phases("along")} == {1}


@pytest.mark.parametrize("wrong", [(48, 0), (128, 16), (16, 0)])
def test_other_tiles_are_refused(wrong):
    with pytest.raises(LaunchError):
        Tile(*wrong)
    with pytest.raises(LaunchError, match="way is 'up'; it can be down, along"):
        Tile(128, 0).phases("up")
