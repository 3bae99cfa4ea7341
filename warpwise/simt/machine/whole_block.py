"""A block that may wait, in a Python without threads, as in a browser: its warps go in step.

It can wait only for blocks before it, and its warps not for one another. A wait for anyone else is
an error as soon as a trip repeats the one before and changed nothing; one that looks different
every time ends by a budget of its own."""

from __future__ import annotations

from warpwise.simt.lanes.counting import by_warp
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.scheduled_batch import CountedRequests, key_of
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.steps import unthreaded
from warpwise.simt.types import Value

SHARE = 100  # of max_steps these trips may be a hundredth


class WholeBlock(Batch):
    """One block of a launch."""

    memory: CountedRequests

    def __init__(self, state: LaunchState, number: int):
        super().__init__(state, number, 1)
        self.memory = CountedRequests(state)
        self.entered = self.trips = 0  #: loops that may wait, and their trips, so far
        self.last: tuple[Value, ...] = ()
        self.began: dict[int, Mask] = {}  #: by line of a loop, the lanes of its last first trip

    def wait(
        self, site: Site, mask: Mask, values: list[Value], slots: tuple[int, ...], trip: int
    ) -> None:
        """See ``Batch.wait``. Raises StepLimitError where it waits in vain."""
        if trip == 0:
            self.entered += 1
            self.began[site.line] = mask
            return
        self.trips += 1
        lanes = None if mask.lanes is None else mask.lanes.tobytes()
        keys = tuple(key_of(values[slot]) for slot in slots)
        now = site, self.entered, self.memory.changes, lanes, keys
        if now == self.last or self.trips * SHARE > self.state.max_steps:
            raise unthreaded(site, mask, _parted(self.began[site.line], mask))
        self.last = now


def _parted(began: Mask, mask: Mask) -> bool:
    """Return True if lanes of a warp have left the loop that others of it are in."""
    if mask.group is not began.group:
        return False
    left = by_warp(began.grid() & ~mask.grid(), None, False).any(axis=1)
    return bool((left & by_warp(mask.grid(), None, False).any(axis=1)).any())
