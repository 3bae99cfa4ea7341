"""The counters: what each line and the whole launch did, in numbers."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.simt.lanes.counting import (
    Work,
    count_atomic_sectors,
    count_sectors,
    count_wavefronts,
    passes,
    rows_of,
)
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.async_events import AsyncEvent
from warpwise.simt.machine.memory import Memory
from warpwise.simt.machine.observer import AsyncCopy, Launch, Observer, Request, Scope
from warpwise.simt.machine.site import Site
from warpwise.simt.observers.line_counts import LineCounts, summed
from warpwise.simt.observers.touched import Distinct, TouchedArray
from warpwise.simt.types import Lanes


class Counters(Observer):
    """Counts a launch; ``metrics`` gives the result."""

    def __init__(self) -> None:
        self.counts: dict[int, LineCounts] = defaultdict(LineCounts)
        #: warps by number of active lanes, over all passes
        self.tallies: dict[Work, Lanes] = {}
        self.touched: dict[Memory, TouchedArray] = {}

    def launch_begins(self, launch: Launch) -> None:
        self.touched = {root: TouchedArray(root) for root in launch.memory}

    def issue(self, work: Work, mask: Mask) -> None:
        tally = self.tallies.get(work)
        if tally is None:
            tally = self.tallies[work] = np.zeros(WARP_SIZE + 1, np.int64)
        tally += mask.profile

    def branch(self, line: int, mask: Mask, taken: Mask | None, left: Mask | None) -> None:
        """Every warp meets the branch, and those with lanes on both sides diverge."""
        counts = self.counts[line]
        counts.branches += mask.warps
        if taken is not None and left is not None:
            counts.divergent_branches += taken.warps + left.warps - mask.warps

    def async_copy(self, copy: AsyncCopy) -> None:
        self._shared(copy.request)

    def asynchronous(self, event: AsyncEvent) -> None:
        """Count what a TMA copy moves, and what a warpgroup's product computes."""
        line, box = event.site.line, event.moved
        self.counts[line].flops_tensor += event.flops
        if box is not None and box.places.size:
            self.touched[box.array.root].elements.add(line, box.access, box.places)
            self.counts[line].box(box.access, box.sectors, box.bytes)

    def barrier(self, scope: Scope, mask: Mask, site: Site) -> None:
        self.counts[site.line].barriers += mask.warps

    def atomic(self, request: Request) -> None:
        self._request(request)
        counts = self.counts[request.site.line]
        counts.atomics += request.mask.threads
        counts.atomic_passes += passes(request.addresses, request.mask)

    def launch_ends(self) -> None:
        for work, lanes in self.tallies.items():
            self.counts[work.line].tally(work, lanes)

    # --- requests ---

    def _request(self, request: Request) -> None:
        space = request.array.space
        if space == "global":
            self._global(request)
        elif space == "shared":
            self._shared(request)

    load = store = _request

    def _global(self, request: Request) -> None:
        array, mask, width = request.array, request.mask, request.array.dtype.itemsize
        touched = self.touched[array.root]
        touched.touch(request)
        rows, alike = rows_of(request.addresses, mask)
        if request.access == "atomic":
            sectors = count_atomic_sectors(rows, mask.lanes)
        else:
            within = array.is_whole and touched.elements.within_sectors
            sectors = count_sectors(rows, mask.lanes, width, within)
        counts = self.counts[request.site.line]
        counts.global_request(request.access, mask.warps, sectors * alike, mask.threads * width)

    def _shared(self, request: Request) -> None:
        mask, width = request.mask, request.array.dtype.itemsize
        rows, alike = rows_of(request.addresses, mask)
        loads = request.access == "load"
        found = count_wavefronts(rows, mask.lanes, width, loads)
        wavefronts, fewest = (alike * n for n in found)
        counts, moved = self.counts[request.site.line], mask.threads * width
        counts.shared_request(request.access, mask.warps, wavefronts, fewest, moved)

    # --- the result ---

    def metrics(self) -> tuple[Metrics, dict[int, Metrics]]:
        """Return the counters of the launch, and of each line at which something happened."""
        memories = (memory for array in self.touched.values() for memory in array.memories)
        counts, distinct = dict(sorted(self.counts.items())), Distinct(memories)
        by_line = {line: of_line.metrics(**distinct.of(line)) for line, of_line in counts.items()}
        return summed(counts.values()).metrics(**distinct.of()), by_line
