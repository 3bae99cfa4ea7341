"""The counting rules: sectors of global requests, wavefronts of shared requests, line counters.

Rules: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" (compute capability 6.0
and later) and CUDA C++ Programming Guide, "Shared Memory". Both functions take all warps of a batch
at once; nothing loops over threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from warpwise.metrics import BANK_BYTES, BANKS, DISTINCT, FIELDS, SECTOR_BYTES, WARP_SIZE, Metrics

COUNTED = tuple(name for name in FIELDS if name not in DISTINCT)
_LANES = np.arange(WARP_SIZE + 1)
_NOWHERE = np.iinfo(np.int64).max
_SECTOR_SHIFT = SECTOR_BYTES.bit_length() - 1
_WORDS = BANKS  # a wavefront serves at most one word from each bank


@dataclass(frozen=True, eq=False)
class Work:
    """A ``Cost`` at a source line, as it is counted.

    Each pass adds the warps' numbers of active lanes to the launch's tally of it."""

    line: int
    ops: tuple[tuple[str, int], ...]  #: names of ``Metrics`` fields
    slots: int


class LineCounts:
    """The counters of one source line while a kernel runs; ``metrics()`` freezes them."""

    __slots__ = COUNTED

    def __init__(self):
        for name in COUNTED:
            setattr(self, name, 0)

    def add(self, **counts: int) -> None:
        """Add to some counters; the names are those of ``Metrics``."""
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)

    def global_request(self, kind: str, requests: int, sectors: int, moved: int) -> None:
        """Count a load or a store of global memory; of an atomic, only requests and sectors.

        ``sectors``: touched; ``moved``: bytes that active lanes asked for."""
        if kind == "load":
            self.global_load_requests += requests
            self.global_load_sectors += sectors
            self.global_load_bytes += moved
        elif kind == "store":
            self.global_store_requests += requests
            self.global_store_sectors += sectors
            self.global_store_bytes += moved
        else:
            self.global_atomic_requests += requests
            self.global_atomic_sectors += sectors

    def shared_request(
        self, kind: str, requests: int, wavefronts: int, fewest: int, moved: int
    ) -> None:
        """Count a request of shared memory. ``fewest``: the least wavefronts for these lanes."""
        if kind == "load":
            self.shared_load_requests += requests
            self.shared_load_wavefronts += wavefronts
            self.shared_load_bank_conflicts += wavefronts - fewest
            self.shared_load_bytes += moved
        elif kind == "store":
            self.shared_store_requests += requests
            self.shared_store_wavefronts += wavefronts
            self.shared_store_bank_conflicts += wavefronts - fewest
            self.shared_store_bytes += moved
        else:
            self.shared_atomic_requests += requests

    def tally(self, work, lanes: np.ndarray) -> None:
        """Add passes over a piece of code; ``lanes``: warps by number of active lanes, (33,)."""
        threads = int(lanes @ _LANES)
        self.warp_instructions += work.slots * int(lanes.sum())
        self.thread_instructions += work.slots * threads
        self.lanes_active = self.lanes_active + work.slots * lanes
        self.add(**{name: count * threads for name, count in work.ops})

    def metrics(self, **extra: int) -> Metrics:
        """Freeze the counters. ``extra``: those that are not counted by line."""
        counts = {name: getattr(self, name) for name in COUNTED}
        counts["lanes_active"] = tuple(np.broadcast_to(self.lanes_active, _LANES.shape).tolist())
        return Metrics(**counts, **extra)


def by_warp(values: np.ndarray, lanes: np.ndarray | None, nothing: int = _NOWHERE) -> np.ndarray:
    """Return ``values`` ``(rows, threads)`` as ``(warps, 32)``.

    Lanes that are inactive, or beyond the block, hold ``nothing``."""
    if lanes is not None:
        values = np.where(lanes, values, nothing)
    rows, threads = values.shape
    short = -threads % WARP_SIZE
    if short:
        values = np.concatenate([values, np.full((rows, short), nothing)], axis=1)
    return values.reshape(-1, WARP_SIZE)


def count_sectors(addresses: np.ndarray, lanes: np.ndarray | None, width: int) -> int:
    """Return the distinct 32-byte sectors that each warp touches, summed over warps.

    ``addresses``: bytes, ``(rows, threads)``. ``lanes``: the active ones, None for all. ``width``:
    bytes per element."""
    first = by_warp(addresses >> _SECTOR_SHIFT, lanes)
    # no element lies across two sectors
    if SECTOR_BYTES % width == 0 and not np.bitwise_or.reduce(addresses, axis=None) & (width - 1):
        return _distinct(first)
    last = by_warp((addresses + width - 1) >> _SECTOR_SHIFT, lanes)
    return _distinct(np.concatenate([first, last], axis=1))


def _distinct(rows: np.ndarray) -> int:
    """Return the number of distinct values in each row, summed; ``_NOWHERE`` does not count."""
    steps = rows[:, 1:] != rows[:, :-1]
    if (rows[:, 1:] < rows[:, :-1]).any():
        rows = np.sort(rows, axis=1)
        steps = rows[:, 1:] != rows[:, :-1]
    return int(np.count_nonzero(steps)) + len(rows) - int(np.count_nonzero(rows[:, -1] == _NOWHERE))


def count_wavefronts(
    addresses: np.ndarray, lanes: np.ndarray | None, width: int
) -> tuple[int, int]:
    """Return the wavefronts of each warp's shared-memory request, and the fewest possible, summed.

    Lanes are served in groups of 32, 16 or 8 for elements of up to 4, 8 or 16 bytes; lanes that
    name the same word are served together. ``addresses``: bytes from the start of the block's
    shared memory, ``(rows, threads)``."""
    if len(addresses) > 1:
        return _wavefronts(addresses, lanes, width)
    return _wavefronts_of_a_block(
        addresses.tobytes(), None if lanes is None else lanes.tobytes(), width
    )


@lru_cache(maxsize=4096)
def _wavefronts_of_a_block(addresses: bytes, lanes: bytes | None, width: int) -> tuple[int, int]:
    """Count for one block; a kernel's loop repeats the same pattern again and again."""
    active = None if lanes is None else np.frombuffer(lanes, bool)[None, :]
    return _wavefronts(np.frombuffer(addresses, np.int64)[None, :], active, width)


def _wavefronts(addresses: np.ndarray, lanes: np.ndarray | None, width: int) -> tuple[int, int]:
    words = by_warp(addresses // BANK_BYTES, lanes, nothing=-1)
    per_lane = max(1, width // BANK_BYTES)
    if per_lane > 1:
        words = np.where(words[..., None] < 0, -1, words[..., None] + np.arange(per_lane)).reshape(
            -1, _WORDS
        )
    words = words[(words >= 0).any(axis=1)]
    return _most_per_bank(words), len(words)


def _most_per_bank(groups: np.ndarray) -> int:
    """Return the most distinct words that one bank has to serve in each group, summed."""
    ordered = np.sort(groups, axis=1)
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    group, _ = np.nonzero(new)
    served = np.bincount(group * BANKS + ordered[new] % BANKS, minlength=len(groups) * BANKS)
    return int(served.reshape(-1, BANKS).max(axis=1).sum()) if len(groups) else 0
