"""Walks that a changed kernel would make: those of a program without some of their instructions.

A mended kernel has other machine code, which nobody has compiled. What the change saves is left out
of the walks that are there, for all warps or for some."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.stopwatch.program import Program


@dataclass(frozen=True)
class Walks:
    """The walks of a block's warps. Each kind goes the way of one of the program's, its ``rows``.

    ``shares``: (kinds, twice the instructions), as in ``tables``: 1 for what a walk runs as before,
    0 for what it leaves out. Of each stretch with a share between it runs the first part."""

    rows: np.ndarray
    shares: np.ndarray
    kinds: np.ndarray  #: of each warp

    def of(self, streams: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the walks as rows, and their lengths, from those of the program."""
        walks = [
            _kept(streams[row, : lengths[row]], shares)
            for row, shares in zip(self.rows, self.shares, strict=True)
        ]
        found = np.array([len(walk) for walk in walks], np.int64)
        table = np.zeros((len(walks), int(found.max(initial=1))), np.int32)
        for number, walk in enumerate(walks):
            table[number, : len(walk)] = walk
        return table, found

    def executions(self, program: Program) -> np.ndarray:
        """How often a block's warps together run each instruction."""
        warps = np.bincount(self.kinds, minlength=len(self.rows))
        found: np.ndarray = warps @ (program.counts[self.rows] * self.shares)
        return found


def plain(program: Program) -> Walks:
    """Return the walks of a program, to be changed."""
    shares = np.ones((len(program.trips), 2 * len(program.ops)))
    return Walks(np.arange(len(shares)), shares, program.kinds_of_warps)


def without(program: Program, instructions: np.ndarray) -> Walks:
    """Return the walks of all warps without some instructions, given by their numbers."""
    walks = plain(program)
    walks.shares[:, instructions] = 0
    walks.shares[:, instructions + len(program.ops)] = 0
    return walks


def _kept(walk: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return what is left of a walk."""
    share = shares[walk]
    parted = (share > 0) & (share < 1)
    starts = np.flatnonzero(parted & ~np.concatenate([[False], parted[:-1]]))
    kept = share > 0
    for start in starts.tolist():
        after = np.flatnonzero(~parted[start:])
        length = int(after[0]) if len(after) else len(walk) - start
        kept[start + round(length * float(share[start])) : start + length] = False
    left: np.ndarray = walk[kept]
    return left
