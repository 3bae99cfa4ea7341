"""Where a kernel's requests find their data: L1, L2 or DRAM.

L1 has a module of its own, ``l1``. L2: what a block's arrays are to other blocks follows from
sizes. If each block reads as much of an array as all blocks together would read without sharing,
nobody shares; if every piece is read by as many blocks as the grid has columns, the blocks of a row
share it; and so on. Where events of several blocks were recorded, ``sharing`` checks that by their
addresses. Blocks that are on the GPU together read a piece once; later ones again, unless L2 keeps
the array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.stopwatch.cards import Card
from warpwise.stopwatch.l1 import of_global
from warpwise.stopwatch.sharing import by_addresses
from warpwise.traces import KINDS, Trace

WIDE_GRAIN = 64  #: bytes that DRAM is read by at a time on some GPUs, two sectors
KEPT_BY_L2 = 0.5  #: share of L2 in which an array stays between waves; beyond it nothing is assumed
Grid = tuple[int, int, int]


@dataclass(frozen=True)
class Use:
    """One block's use of a global array.

    ``touched``: bytes in all sectors that its loads or stores touch, each once. ``shared_by``: the
    blocks that touch the same bytes: "none", "row", "column" or "all"."""

    array: str
    loaded: int
    stored: int
    array_bytes: int
    shared_by: str
    longer: float = 1.0  #: loads of the launch in question over the recorded ones
    #: bytes in all pieces of 64 that its loads touch, over those in sectors: 1, or 2 with gaps
    gaps: float = 1.0


def uses_of(trace: Trace, grid: Grid, longer: float = 1.0) -> dict[str, Use]:
    """Return how the first recorded block uses each global array, by the array's name.

    ``grid``: that of the launch in question, of which the trace may have run a part. ``longer``:
    trips of its longest loop over the traced ones, in which blocks load, and store nothing."""
    touched = _touched(trace)
    covering, seen = _covering(touched, trace.grid, grid), by_addresses(trace)
    gaps = _gaps(trace)
    return {
        name: Use(
            name,
            loaded,
            stored,
            size,
            _seen(seen, name, max(loaded, stored), size, covering),
            longer,
            gaps[name],
        )
        for name, loaded, stored, size in touched
    }


def sharing_unseen(trace: Trace, grid: Grid) -> bool:
    """Return True if the trace ran one block of many, on arrays that are made for one."""
    alone = prod(trace.grid) == 1 < prod(grid)
    return alone and _covering(_touched(trace), trace.grid, grid) == trace.grid


def _touched(trace: Trace) -> list[tuple[str, int, int, int]]:
    """Return each global array's name, the bytes that the first recorded block loads and stores,
    and its size."""
    r, touched, kept = trace.records, [], _kept(trace)
    first = r.of_first_block
    for number, info in enumerate(trace.arrays):
        if info.space == "global":
            own = (r.array == number) & first
            loaded = _sectors(r.addresses[own & (r.kind == KINDS.index("load"))])
            stored = _sectors(r.addresses[own & (r.kind == KINDS.index("store"))])
            size = prod(info.shape) * info.itemsize
            touched.append((info.name, min(size, round(loaded / kept)), stored, size))
    return touched


def _gaps(trace: Trace) -> dict[str, float]:
    """Return for each global array the bytes in pieces of 64 over those in sectors that the first
    recorded block loads from."""
    r, found = trace.records, {}
    loads = r.of_first_block & (r.kind == KINDS.index("load"))
    for number, info in enumerate(trace.arrays):
        if info.space == "global":
            addresses = r.addresses[loads & (r.array == number)]
            found[info.name] = _sectors(addresses, WIDE_GRAIN) / max(1, _sectors(addresses))
    return {name: max(1.0, gap) for name, gap in found.items()}


def _seen(seen: Mapping[str, tuple[str, ...]], name: str, touched: int, size: int, on: Grid) -> str:
    """Return which blocks share an array: by its size, unless recorded addresses say otherwise."""
    guess = _shared(touched, size, on)
    possible = seen.get(name, ())
    return possible[0] if possible and guess not in possible else guess


def _kept(trace: Trace) -> float:
    """Return the share of a block's loads of which the trace kept the addresses, 1 if all."""
    r = trace.records
    rows = (r.kind == KINDS.index("load")) & of_global(trace)
    warps = -(-prod(trace.block) // 32)
    asked = trace.metrics.global_load_requests / prod(trace.grid)
    kept = np.count_nonzero(r.active[rows].any(axis=1)) * warps if trace.truncated else asked
    return max(1e-6, min(1.0, kept / asked)) if asked and kept else 1.0


def _covering(touched: list[tuple[str, int, int, int]], traced: Grid, asked: Grid) -> Grid:
    """Return the grid whose blocks fill the arrays: the one asked for, unless the traced one does.

    Judged by the largest array that a block stores to, as blocks rarely store the same bytes; or,
    if it stores nothing, loads from."""
    filled = [(size, stored) for _, _, stored, size in touched if stored]
    size, part = max(filled or [(size, loaded) for _, loaded, _, size in touched], default=(0, 0))
    return traced if part * prod(traced) > 0.7 * size else asked


def _sectors(addresses: np.ndarray, of_bytes: int = SECTOR_BYTES) -> int:
    """Return the bytes of the sectors, or other pieces, that addresses lie in, each once."""
    return of_bytes * len(np.unique(addresses[addresses >= 0] // of_bytes))


def _shared(touched: int, size: int, grid: Grid) -> str:
    """Return which blocks share what one of them touches, judging by the array's size."""
    blocks = prod(grid)
    sharers = touched * blocks / max(1, size)
    if blocks == 1 or sharers < 1.5:
        return "none"
    if sharers > 0.7 * blocks:
        return "all"
    by_row, by_column = abs(np.log(sharers / grid[0])), abs(np.log(sharers * grid[0] / blocks))
    return "row" if by_row <= by_column else "column"


def together(shared_by: str, grid: Grid, wave: int) -> float:
    """Return how many different pieces of an array a wave of blocks touches, in their order."""
    wave = min(wave, prod(grid))
    if shared_by == "row":
        return ceil(wave / grid[0])
    if shared_by == "column":
        return min(wave, grid[0])
    return 1 if shared_by == "all" else wave


def dram_share(use: Use, kind: str, grid: Grid, wave: int, card: Card) -> float:
    """Return the bytes from or to DRAM over the different bytes that a block touches, 0 to 1."""
    wave = min(wave, prod(grid))
    pieces = together(use.shared_by, grid, wave)
    share = pieces / wave
    every = together(use.shared_by, grid, prod(grid))
    touched = use.longer * use.loaded if kind == "load" else use.stored
    if every * touched <= KEPT_BY_L2 * card.device.l2_bytes:
        share = every / prod(grid)  # read by the first wave that needs it, and kept
    return min(1.0, share)


def read_for_nothing(use: Use, grid: Grid, card: Card) -> float:
    """Return the bytes that DRAM reads over those in the sectors that are loaded, 1 to 2.

    Where it is read by pieces of two sectors, of which a block loads one, the other comes for
    nothing, unless other blocks load it: all of them read no more than the array."""
    if card.dram_grain < WIDE_GRAIN or not use.loaded:
        return 1.0
    every = together(use.shared_by, grid, prod(grid)) * use.loaded * use.longer
    return max(1.0, min(use.gaps, use.array_bytes / every))


def in_turn(trace: Trace, grid: Grid) -> float:
    """Return the atomics of a launch that go to one address, which L2 does one after the other.

    Of integers a warp's go as one, as a compiler makes it. Of the array that keeps them longest."""
    r, blocks = trace.records, prod(grid)
    atomics = r.of_first_block & (r.kind == KINDS.index("atomic"))
    asked = trace.metrics.global_atomic_requests / prod(trace.grid)
    most, recorded = 0.0, 0
    for number, info in enumerate(trace.arrays):
        rows = r.addresses[atomics & (r.array == number)]
        if info.space == "global" and len(rows):
            warps = rows.reshape(-1, WARP_SIZE)
            recorded += int((warps >= 0).any(axis=1).sum())
            whole = np.issubdtype(np.dtype(str(info.dtype)), np.integer)
            lanes = np.concatenate([np.unique(w) for w in warps]) if whole else warps.ravel()
            addresses, times = np.unique(lanes[lanes >= 0], return_counts=True)
            size = prod(info.shape) * info.itemsize
            sharers = min(blocks, max(1.0, len(addresses) * info.itemsize * blocks / size))
            most = max(most, float(times.max(initial=0)) * sharers)
    return most * max(1.0, asked / recorded) if recorded else 0.0
