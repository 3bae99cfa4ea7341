"""The state that all batches of one launch share."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np

from warpwise.devices import Device
from warpwise.errors import BarrierError
from warpwise.simt.lanes.lane_group import coordinates
from warpwise.simt.machine.observer import Hooks, Launch
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.undefined import Attempt
from warpwise.simt.machine.wraps import Wraps
from warpwise.simt.types import Value

#: The target of a request: elements from the start of its array, and byte addresses
Place: TypeAlias = tuple[Value, Value]


class LaunchState:
    """A launch while it runs: its limits, what watches it, and what its batches share."""

    def __init__(
        self, launch: Launch, device: Device, max_steps: int, attempt: Attempt, hooks: Hooks
    ):
        self.launch, self.device, self.max_steps = launch, device, max_steps
        self.attempt, self.hooks = attempt, hooks
        self.grid, self.block, self.threads = launch.grid, launch.block, launch.threads
        self.dynamic_bytes = launch.dynamic_bytes
        #: requests that are the same in every block
        self.places: dict[tuple[int, ...], Place] = {}
        self.shared_bytes = 0  #: the most that a block used
        self.local_bytes = 0  #: the most that a thread made, in local arrays
        self.wraps = Wraps()
        self.missed: dict[Site, BarrierError] = {}  #: see ``barriers``
        self.left: dict[Site, BarrierError] = {}  #: syncs of the grid that some threads left before
        self.printed = 0  #: lines that the kernel printed

    @cached_property
    def thread_index(self) -> tuple[Value, ...]:
        """``cuda.threadIdx`` of every thread of a block.

        The same objects for all batches, so that ``places`` can recognise them."""
        return coordinates(np.arange(self.threads, dtype=np.int64)[None, :], self.block)

    @cached_property
    def fixed(self) -> frozenset[int]:
        return frozenset(id(axis) for axis in self.thread_index)
