"""Asynchronous copies: 16 bytes of each lane from global to shared memory, which arrive later.

A thread starts copies, makes groups of them, and waits for all of its groups but the newest ones
(PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy"). The data are in shared
memory from that wait on, and not before: on a GPU they may arrive earlier, but nothing tells when.
They are those that were in global memory when the copy began. A thread's wait says nothing of the
copies of others: that takes a barrier as well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask, masked
from warpwise.simt.machine import wide
from warpwise.simt.machine.memory import Array
from warpwise.simt.machine.observer import AsyncCopy, Hooks, Request
from warpwise.simt.machine.requests import Requests
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes, Value


class Copies:
    """The asynchronous copies of a batch."""

    def __init__(self, hooks: Hooks, group: LaneGroup):
        self.hooks, self.group = hooks, group
        self.pending: list[AsyncCopy] = []

    @cached_property
    def committed(self) -> Lanes:
        """The number of groups that each thread has committed, by its place in the batch."""
        return np.zeros(self.group.rows * self.group.threads, np.int64)

    @cached_property
    def arrived(self) -> Lanes:
        """The number of groups whose copies each thread knows to have arrived."""
        return np.zeros(self.group.rows * self.group.threads, np.int64)

    def start(
        self, memory: Requests, to: Array, at: Value, source: Array, position: Value,
        mask: Mask, site: Site,
    ) -> None:  # fmt: skip
        """Start copying the 16 bytes from ``source[position]`` on to ``to[at]``."""
        view, index = wide.quads(memory, source, position, mask, site)
        value = memory.load(view, [index], mask, site)
        request = wide.request(memory, "store", to, at, mask, site)
        request.value = value
        groups = self.committed[mask.group.places]
        copy = AsyncCopy(request, groups, mask.grid().copy(), self.committed)
        for observe in self.hooks.async_copy:
            observe(copy)
        self.pending.append(copy)

    def commit(self, mask: Mask) -> None:
        """Make a group of the copies that each active thread started since its last commit."""
        self.committed[mask.group.places[mask.grid()]] += 1

    def wait(self, newest: int, mask: Mask, site: Site) -> None:
        """Let the copies in all groups of the active threads arrive but the ``newest`` ones."""
        at = mask.group.places[mask.grid()]
        self.arrived[at] = np.maximum(self.arrived[at], self.committed[at] - newest)
        waiting = np.zeros(self.arrived.shape, bool)
        waiting[at] = True
        for copy, request in self._arriving(waiting):
            for observe in self.hooks.arrival:
                observe(copy, request, site)
            request.array.store(request.offset, request.value, request.mask)
        for copy in self.pending:
            if (copy.on_the_way & waiting[copy.request.mask.group.places]).any():
                copy.waited = newest, site, self.committed.copy()
        self.pending = [copy for copy in self.pending if copy.on_the_way.any()]

    def _arriving(self, waiting: Lanes) -> Iterator[tuple[AsyncCopy, Request]]:
        """Yield the copies that arrive now, each with the request of those of its lanes."""
        for copy in self.pending:
            request, places = copy.request, copy.request.mask.group.places
            here = copy.on_the_way & waiting[places] & (copy.groups < self.arrived[places])
            if (lanes := masked(request.mask.group, here)) is None:
                continue
            copy.on_the_way &= ~here
            yield (
                copy,
                Request(
                    "store", request.array, request.offset, lanes, request.site, value=request.value
                ),
            )
