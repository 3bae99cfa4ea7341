"""Samples: a few blocks of a grid, traced in place of all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """The blocks of a launch that ran, and how alike they were.

    ``blocks``: their linear numbers, in the order in which they ran. ``kinds``: 1 if the corners of
    the grid counted what its middle does; otherwise edges are kinds of their own, each scaled by
    itself."""

    blocks: tuple[int, ...]
    of: int  #: blocks of the grid
    kinds: int = 1
    #: of blocks of one kind, the largest difference in a counter of a line, as a share of what one
    #: block counts; 0 if they counted the same
    spread: float = 0.0

    def __str__(self) -> str:
        edges = f" of {self.kinds} kinds, by edges," * (self.kinds > 1)
        alike = (
            f"which differ by up to {100 * self.spread:.2g} %, and so may the counters"
            if self.spread
            else "and those alike counted the same"
        )
        return (
            f"A sample: {len(self.blocks):,} of {self.of:,} blocks{edges} ran, {alike}. Counters "
            "are scaled to the grid; results are partial, and races with other blocks unknown."
        )
