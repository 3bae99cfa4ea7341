"""The counters of a source line while a kernel runs."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from warpwise.metrics import DISTINCT, FIELDS, WARP_SIZE, Metrics
from warpwise.simt.lanes.counting import Work
from warpwise.simt.types import Lanes

COUNTED = tuple(name for name in FIELDS if name not in DISTINCT)
_LANES = np.arange(WARP_SIZE + 1, dtype=np.int64)


class LineCounts(SimpleNamespace):
    """The counters of one source line while a kernel runs; ``metrics()`` freezes them.

    They have the names of ``Metrics`` fields."""

    def __init__(self) -> None:
        super().__init__(**dict.fromkeys(COUNTED, 0))

    def add(self, **counts: int) -> None:
        """Add to some counters; the names are those of ``Metrics``."""
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)

    def global_request(self, kind: str, requests: int, sectors: int, moved: int) -> None:
        """Count a request of global memory.

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
            self.global_atomic_bytes += moved

    def box(self, access: str, sectors: int, moved: int) -> None:
        """Count a box that TMA copies from global memory, or to it."""
        self.add(**{f"tma_{access}_sectors": sectors, f"tma_{access}_bytes": moved})

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
            self.shared_atomic_wavefronts += wavefronts
            self.shared_atomic_bank_conflicts += wavefronts - fewest
            self.shared_atomic_bytes += moved

    def tally(self, work: Work, lanes: Lanes) -> None:
        """Add passes over a piece of code; ``lanes``: warps by number of active lanes, (33,)."""
        threads = int(lanes @ _LANES)
        self.warp_instructions += work.slots * int(lanes.sum())
        self.thread_instructions += work.slots * threads
        self.lanes_active += work.slots * lanes
        self.add(**{name: count * threads for name, count in work.ops})

    def metrics(self, **extra: int) -> Metrics:
        """Freeze the counters. ``extra``: those that are not counted by line."""
        counts: dict[str, Any] = {**vars(self), **extra}
        if isinstance(self.lanes_active, np.ndarray):  # else 0: no warps
            counts["lanes_active"] = tuple(self.lanes_active.tolist())
        return Metrics.of(counts)


def summed(lines: Iterable[LineCounts]) -> LineCounts:
    """Return the sum of the counters of some lines."""
    total = LineCounts()
    columns = zip(*(vars(line).values() for line in lines), strict=True)
    vars(total).update(zip(COUNTED, map(sum, columns), strict=False))
    return total
