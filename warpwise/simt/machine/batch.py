"""A batch of blocks while a kernel runs over it: its lanes and the parts that run them.

Lane-shaped values belong to the lane group of the current mask, which may be a compacted one; the
batch is the same for all of them. A compiled kernel works through the batch: ``memory`` makes its
requests, ``copies`` those that go on by themselves, ``arrays`` allocates, ``barriers`` and
``warps`` let threads meet."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from warpwise.simt.lanes.counting import Work
from warpwise.simt.lanes.lane_group import batch_lanes
from warpwise.simt.lanes.masks import Mask, full
from warpwise.simt.machine.allocation import Arrays
from warpwise.simt.machine.barriers import Barriers
from warpwise.simt.machine.copies import Copies
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.observer import Hooks, Observer, hooks_of
from warpwise.simt.machine.requests import Requests
from warpwise.simt.machine.returned import Returned
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.steps import endless
from warpwise.simt.machine.tensor import mma, need_whole_warps, product
from warpwise.simt.machine.warp import Warps
from warpwise.simt.types import Value


class Batch:
    """Blocks ``first`` to ``first + count`` of a launch, run together."""

    memory: Requests
    barriers: Barriers

    def __init__(self, state: LaunchState, first: int, count: int):
        self.state, self.hooks = state, state.hooks
        self.group = batch_lanes(state.grid, state.block, state.thread_index, first, count)
        self.full, self.returned = full(self.group), Returned(self.group)
        self.memory, self.arrays = Requests(state), Arrays(state, self.group)
        self.barriers = Barriers(self.hooks, self.returned, state.missed, state.left)
        self.warps = Warps(self.hooks, self.returned, state.attempt)
        self.copies = Copies(self.hooks, self.group)
        self.steps = self.compacted_steps = self.compacted_lanes = 0
        self.units: dict[type, Any] = {}  #: what else its blocks have, by class: see ``hopper``

    def watched_by(self, observer: Observer) -> None:
        """Let one more observer, the first to be told, watch this batch from here on."""
        own = hooks_of([observer])
        both = {f.name: getattr(own, f.name) + getattr(self.hooks, f.name) for f in fields(Hooks)}
        self.hooks = self.memory.hooks = self.barriers.hooks = self.copies.hooks = Hooks(**both)

    def begin(self) -> None:
        for observe in self.hooks.batch_begins:
            observe(self.group)

    def end(self) -> None:
        for observe in self.hooks.batch_ends:
            observe(self.group)

    def step(self, site: Site, mask: Mask, waits: bool = False, trip: int = 0) -> None:
        """Count one trip of a loop, or one call. Raises StepLimitError beyond the budget.

        ``waits``: the loop may wait for other threads. ``trip``: its number, from 0; to name the
        loop that does not end, and not one within it, the error is delayed a little, for one that
        has made many."""
        self.steps += 1
        if not mask.group.whole:
            self.compacted_steps += 1
            self.compacted_lanes += mask.group.rows * mask.group.threads
        most = self.state.max_steps
        if self.steps > most and (trip * trip >= most or self.steps > most + most // 8):
            raise endless(self.state.max_steps, site, mask, waits)

    def wait(
        self, site: Site, mask: Mask, values: list[Value], slots: tuple[int, ...], trip: int
    ) -> None:
        """Begin a trip of a loop that may wait. ``slots``: the ``values`` that decide what it does.

        Other warps run between trips only in ``scheduled_batch``."""

    def issue(self, work: Work, mask: Mask) -> None:
        """Let the active lanes pass over a piece of code."""
        for observe in self.hooks.issue:
            observe(work, mask)

    def branch(self, line: int, mask: Mask, yes: Mask | None, no: Mask | None) -> None:
        """Let the active lanes go two ways: ``yes`` and ``no``."""
        for observe in self.hooks.branch:
            observe(line, mask, yes, no)

    def mma(self, kind: str, values: list[Value], mask: Mask, site: Site) -> Value:
        """Multiply small matrices that lie in registers: see ``tensor.mma``."""
        need_whole_warps(mask, site, f"mma_{kind}")
        one = product(kind, values, mask, site)
        for observe in self.hooks.mma:
            observe(one)
        return mma(one)

    def fence(self, mask: Mask, scope: str) -> None:
        """Do a memory fence: ``scope`` is "block", "grid" or "system"."""
        for observe in self.hooks.fence:
            observe(scope, mask)

    def leave(self, mask: Mask) -> None:
        """Let these threads return from the kernel."""
        for observe in self.hooks.leave:
            observe(mask)
        self.returned.add(mask)
