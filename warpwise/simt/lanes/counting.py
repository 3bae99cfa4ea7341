"""The counting rules: sectors of global requests, wavefronts of shared requests, passes of atomics.

Rules: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" (compute capability 6.0
and later) and CUDA C++ Programming Guide, "Shared Memory". All functions take all warps of a batch
at once; nothing loops over threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from warpwise.metrics import BANK_BYTES, BANKS, SECTOR_BYTES, WARP_SIZE
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.types import Lanes, Value, as_array, as_index

_NOWHERE = np.iinfo(np.int64).max
_SECTOR_SHIFT = SECTOR_BYTES.bit_length() - 1
_WORDS = BANKS  # a wavefront serves at most one word from each bank
_MOST_LANES = 2048  # of a pattern that is remembered: a kernel's loop repeats few patterns
#: Addresses ``(rows, threads)`` and active lanes as bytes, with their shapes
_Pattern: TypeAlias = tuple[tuple[int, ...], bytes, tuple[int, ...], bytes]


@dataclass(frozen=True, eq=False)
class Work:
    """A ``Cost`` at a source line, as it is counted.

    Each pass adds the warps' numbers of active lanes to the launch's tally of it."""

    line: int
    ops: tuple[tuple[str, int], ...]  #: names of ``Metrics`` fields
    slots: int

    @cached_property
    def flops(self) -> int:
        """Floating-point operations of each active lane."""
        return sum(count for name, count in self.ops if name.startswith("flops_"))


def by_warp(values: Lanes, lanes: Lanes | None, nothing: int = _NOWHERE) -> Lanes:
    """Return ``values`` ``(rows, threads)`` as ``(warps, 32)``.

    Lanes that are inactive, or beyond the block, hold ``nothing``."""
    if lanes is not None:
        values = np.where(lanes, values, nothing)
    rows, threads = values.shape
    short = -threads % WARP_SIZE
    if short:
        values = np.concatenate(
            [values, np.full((rows, short), nothing, as_array(nothing).dtype)], axis=1
        )
    return values.reshape(-1, WARP_SIZE)


def _pattern(addresses: Lanes, lanes: Lanes | None) -> _Pattern:
    shape, active = ((), b"") if lanes is None else (lanes.shape, lanes.tobytes())
    return addresses.shape, addresses.astype(np.int64, copy=False).tobytes(), shape, active


def _of_pattern(pattern: _Pattern) -> tuple[Lanes, Lanes | None]:
    """Return addresses and active lanes; see ``_pattern``."""
    rows, addresses, shape, active = pattern
    lanes = np.frombuffer(active, bool).reshape(shape) if shape else None
    return np.frombuffer(addresses, np.int64).reshape(rows), lanes


def count_sectors(addresses: Lanes, lanes: Lanes | None, width: int, within: bool = False) -> int:
    """Return the distinct 32-byte sectors that each warp touches, summed over warps.

    ``addresses``: bytes, ``(rows, threads)``. ``lanes``: the active ones, None for all. ``width``:
    bytes per element. ``within``: it is known that no element lies across two sectors."""
    if addresses.size > _MOST_LANES:
        return _sectors(addresses, lanes, width, within)
    begin = int(addresses[0, 0]) >> _SECTOR_SHIFT << _SECTOR_SHIFT
    return _sectors_of_pattern(_pattern(addresses - begin, lanes), width, within)


@lru_cache(maxsize=2048)
def _sectors_of_pattern(pattern: _Pattern, width: int, within: bool) -> int:
    return _sectors(*_of_pattern(pattern), width, within)


def _sectors(addresses: Lanes, lanes: Lanes | None, width: int, within: bool) -> int:
    first = by_warp(addresses >> _SECTOR_SHIFT, lanes)
    if within or _within_sectors(addresses, width):
        return _distinct(first)
    last = by_warp((addresses + width - 1) >> _SECTOR_SHIFT, lanes)
    return _distinct(np.concatenate([first, last], axis=1))


def count_atomic_sectors(addresses: Lanes, lanes: Lanes | None) -> int:
    """Return the sectors that atomics of each warp touch one after the other, summed over warps.

    Lanes that name one address take turns: a sector counts as often as its most named address does.
    Nsight Compute counts so on an H200 (``measurements``, suite ``counters``)."""
    named = np.sort(by_warp(addresses, lanes), axis=1)
    first = _begin(named)
    places = np.flatnonzero(first)
    turns = np.diff(places, append=named.size)
    turns[named.ravel()[places] == _NOWHERE] = 0
    sectors = np.flatnonzero(_begin(named >> _SECTOR_SHIFT)[first])
    return int(np.maximum.reduceat(turns, sectors).sum())


def _begin(rows: Lanes) -> Lanes:
    """Return, of sorted rows one after the other, which values are the first of their kind."""
    first = np.ones(rows.shape, bool)
    np.not_equal(rows[:, 1:], rows[:, :-1], out=first[:, 1:])
    return first.reshape(-1)


def _within_sectors(addresses: Lanes, width: int) -> bool:
    """Return True if no element lies across two sectors, as all are aligned to their size."""
    if SECTOR_BYTES % width:
        return False
    return not int(np.bitwise_or.reduce(addresses, axis=None)) & (width - 1)


def _distinct(rows: Lanes) -> int:
    """Return the number of distinct values in each row, summed; ``_NOWHERE`` does not count."""
    if len(rows) == 1:
        return len({*rows[0].tolist()} - {_NOWHERE})
    steps = rows[:, 1:] != rows[:, :-1]
    if (rows[:, 1:] < rows[:, :-1]).any():
        rows = np.sort(rows, axis=1)
        steps = rows[:, 1:] != rows[:, :-1]
    return int(np.count_nonzero(steps)) + len(rows) - int(np.count_nonzero(rows[:, -1] == _NOWHERE))


def count_wavefronts(
    addresses: Lanes, lanes: Lanes | None, width: int, loads: bool = False
) -> tuple[int, int]:
    """Return the wavefronts of each warp's shared-memory request, and the fewest possible, summed.

    Lanes are served in groups of 32, 16 or 8 for elements of up to 4, 8 or 16 bytes; lanes that
    name the same word are served together. ``loads``: wide loads of which neighbours want the same
    are served in groups of twice as many lanes (see ``_in_pairs``). ``addresses``: bytes from the
    start of the block's shared memory, ``(rows, threads)``."""
    if addresses.size > _MOST_LANES:
        return _wavefronts(addresses, lanes, width, loads)
    return _wavefronts_of_pattern(_pattern(addresses, lanes), width, loads)


@lru_cache(maxsize=2048)
def _wavefronts_of_pattern(pattern: _Pattern, width: int, loads: bool) -> tuple[int, int]:
    return _wavefronts(*_of_pattern(pattern), width, loads)


def _wavefronts(addresses: Lanes, lanes: Lanes | None, width: int, loads: bool) -> tuple[int, int]:
    first = by_warp(addresses // BANK_BYTES, lanes, nothing=-1)
    per_lane = max(1, width // BANK_BYTES)
    if per_lane == 1:
        return _served(first)
    words = np.where(
        first[..., None] < 0, -1, first[..., None] + np.arange(per_lane, dtype=np.int64)
    )
    paired = _in_pairs(first) if loads else np.zeros(len(first), bool)
    alone = _served(words[~paired].reshape(-1, _WORDS))
    together = _served(words[paired].reshape(-1, 2 * _WORDS))
    return alone[0] + together[0], alone[1] + together[1]


def _in_pairs(first: Lanes) -> Lanes:
    """Return which warps' active lanes name the same as their neighbour, or as the next but one.

    So packed, twice as many registers return at a time (NVIDIA's developer forum, "Unexpected
    shared memory bank conflict", 2019); an H200 counts so where all lanes name one address."""
    found = np.zeros(len(first), bool)
    for apart in (1, 2):
        other = first[:, np.arange(WARP_SIZE, dtype=np.int64) ^ apart]
        found |= ((first == other) | (first < 0) | (other < 0)).all(axis=1)
    return found


def _served(groups: Lanes) -> tuple[int, int]:
    """Return the wavefronts of groups of words, and the groups with any, of which -1 is none."""
    groups = groups[(groups >= 0).any(axis=1)]
    return _most_per_bank(groups), len(groups)


def _most_per_bank(groups: Lanes) -> int:
    """Return the most distinct words that one bank has to serve in each group, summed."""
    ordered = np.sort(groups, axis=1)
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    group, _ = np.nonzero(new)
    banks = as_index(group * BANKS + ordered[new] % BANKS)
    served = np.bincount(banks, minlength=len(groups) * BANKS)
    return int(served.reshape(-1, BANKS).max(axis=1).sum()) if len(groups) else 0


def passes(addresses: Value, mask: Mask) -> int:
    """Return the most active lanes of a warp that name one address, summed over warps."""
    if not isinstance(addresses, np.ndarray) or addresses.shape[1] != mask.group.threads:
        return mask.threads  # all lanes of a warp name one
    rows = len(addresses) if mask.lanes is None else max(len(addresses), len(mask.lanes))
    lanes = mask.lanes if mask.lanes is not None else mask.group.filled
    addresses = np.broadcast_to(addresses, (rows, mask.group.threads))
    named = np.sort(by_warp(addresses, lanes, nothing=_NOWHERE), axis=1)
    place = np.arange(named.shape[1], dtype=np.int64)
    new = np.concatenate([np.ones((len(named), 1), bool), named[:, 1:] != named[:, :-1]], axis=1)
    alike = place - np.maximum.accumulate(np.where(new, place, 0), axis=1) + 1
    return int(np.where(named == _NOWHERE, 0, alike).max(axis=1).sum()) * (mask.group.rows // rows)


def rows_of(addresses: Value, mask: Mask) -> tuple[Lanes, int]:
    """Return addresses as ``(rows, threads)``, and the rows of the lane group that each stands for.

    One serves all where they are alike."""
    group = mask.group
    rows, columns = addresses.shape if isinstance(addresses, np.ndarray) else (1, 0)
    if mask.lanes is not None:
        rows = max(rows, len(mask.lanes))
    if columns != group.threads or len(addresses) != rows:
        addresses = np.broadcast_to(as_array(addresses), (rows, group.threads))
    return addresses, group.rows // rows
