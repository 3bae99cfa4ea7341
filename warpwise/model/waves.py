"""Tiles and waves: the share of a GPU that a grid leaves idle at its edges and its end.

A matrix that is no multiple of the tile wastes part of its last tiles; a grid that is no multiple
of what the GPU holds at a time wastes part of its last wave. Blocks are taken to last equally long;
a GPU starts the next block as soon as one ends, so where they differ the waves blur."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.devices import Device
from warpwise.model.arguments import quantity, whole


@dataclass(frozen=True)
class Tiles:
    """A matrix cut into tiles, one for each block."""

    count: int
    useful: float  #: share of the tiles' elements that lie inside the matrix, 0 to 1


@dataclass(frozen=True)
class Waves:
    """A grid in ``count`` waves of up to ``slots`` blocks, with ``tail`` blocks in the last one."""

    blocks: int
    slots: int  #: blocks that the GPU holds at a time
    count: int
    tail: int  #: 1 to slots
    useful: float  #: share of the slots of all waves that have a block, 0 to 1

    def __str__(self) -> str:
        held = f"{quantity(self.blocks, 'block')} of {self.slots:,} at a time"
        if self.count == 1:
            return f"{held}: {_percent(self.useful)} of one wave"
        last = f"the last {_percent(self.tail / self.slots)} full"
        return f"{held}: {self.count:,} waves, {'all full' if self.tail == self.slots else last}"


def tiles(rows: int, columns: int, tile_rows: int, tile_columns: int) -> Tiles:
    """Return the tiles that cover a matrix of ``rows`` x ``columns`` elements.

    Raises LaunchError for a number below 1."""
    sizes = {"rows": rows, "columns": columns, "tile_rows": tile_rows, "tile_columns": tile_columns}
    m, n, tile_m, tile_n = (whole(name, size, 1) for name, size in sizes.items())
    count = -(-m // tile_m) * -(-n // tile_n)
    return Tiles(count, m * n / (count * tile_m * tile_n))


def waves(blocks: int, device: Device, blocks_per_sm: int = 1) -> Waves:
    """Return the waves of a grid of ``blocks`` blocks.

    Each SM holds ``blocks_per_sm`` at a time: ``occupancy(...).blocks``. The share of a GPU's peak
    that a matrix product can reach is ``tiles(...).useful * waves(tiles(...).count,
    device).useful``. Raises LaunchError for a number below 1."""
    blocks, per_sm = whole("blocks", blocks, 1), whole("blocks_per_sm", blocks_per_sm, 1)
    slots = per_sm * device.sms
    count = -(-blocks // slots)
    return Waves(blocks, slots, count, blocks - (count - 1) * slots, blocks / (count * slots))


def _percent(share: float) -> str:
    """Format a share as a percentage of two figures: 0.0121 is "1.2 %"."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
