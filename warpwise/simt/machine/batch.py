"""A batch of blocks while a kernel runs over it: its lanes, its memory and its counters.

Lane-shaped values belong to the lane group of the current mask, which may be a compacted one; the
batch is the same for all of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from warpwise.errors import Location
from warpwise.metrics import WARP_SIZE
from warpwise.races import Race
from warpwise.simt.lanes.counting import LineCounts, Work
from warpwise.simt.lanes.lane_group import batch_lanes, coordinates
from warpwise.simt.lanes.masks import Mask, full, join, masked
from warpwise.simt.lanes.recorder import Recorder
from warpwise.simt.machine.allocation import Allocation
from warpwise.simt.machine.array_views import View
from warpwise.simt.machine.atomics import Atomics
from warpwise.simt.machine.barriers import Barriers
from warpwise.simt.machine.block_memory import LocalArray, SharedArray
from warpwise.simt.machine.requests import Place, Requests
from warpwise.simt.machine.steps import endless
from warpwise.simt.machine.undefined import Attempt
from warpwise.simt.machine.warp import Warps
from warpwise.simt.sanitizer.fences import Fences
from warpwise.simt.sanitizer.global_shadow import GlobalShadow
from warpwise.simt.sanitizer.order import Clock, Order


@dataclass(frozen=True)
class Site:
    """A place in a kernel's text: the number that its line is counted under, and its location."""

    line: int
    shown: int  #: the line's number in its own file: see ``frontend.kernel.Numbering``
    file: str
    text: str
    function: str

    def where(self, block=None, thread=None) -> Location:
        return Location(self.file, self.shown, self.text, block, thread, self.function)


@dataclass
class Launch:
    """The state that all batches of one launch share."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    recorder: Recorder
    max_steps: int
    shared_limit: int
    dynamic_bytes: int = 0  #: of shared memory, asked for at the launch
    sanitize: bool = True
    attempt: Attempt = field(default_factory=Attempt)
    counts: dict[int, LineCounts] = field(default_factory=lambda: defaultdict(LineCounts))
    #: warps by number of active lanes, over all passes
    tallies: dict[Work, np.ndarray] = field(default_factory=dict)
    races: list[Race] = field(default_factory=list)
    race_sites: set = field(default_factory=set)
    #: requests that are the same in every block
    places: dict[tuple, Place] = field(default_factory=dict)
    shared_bytes: int = 0  #: the most that a block used
    local_bytes: int = 0  #: the most that a thread made, in local arrays
    printed: int = 0  #: lines that the kernel printed
    block_shared_limit: int = 0  #: of static and dynamic bytes together
    clock: Clock = field(default_factory=Clock)
    fences: Fences | None = None  #: of a kernel that has some
    #: of global arrays that the kernel may write, by id
    shadows: dict[int, GlobalShadow] = field(default_factory=dict)

    @cached_property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def thread_index(self) -> tuple:
        """``cuda.threadIdx`` of every thread of a block.

        The same objects for all batches, so that ``places`` can recognise them."""
        return coordinates(np.arange(self.threads)[None, :], self.block)

    @cached_property
    def fixed(self) -> frozenset[int]:
        return frozenset(id(axis) for axis in self.thread_index)


class Batch(Requests, Barriers, Warps, Atomics, Allocation):
    """Blocks ``first`` to ``first + count`` of a launch, run together."""

    def __init__(self, launch: Launch, first: int, count: int):
        self.launch, self.first = launch, first
        self.group = batch_lanes(launch.grid, launch.block, launch.thread_index, first, count)
        self.full = full(self.group)
        self.counts, self.tallies, self.recorder = launch.counts, launch.tallies, launch.recorder
        self.recorder.begin(first, count)
        self.recording = bool(self.recorder.rows)
        self.exited: Mask | None = None
        self.order = Order(launch.clock, self.group, launch.fences)
        self.shared: dict[object, SharedArray] = {}
        self.locals: dict[object, LocalArray] = {}
        self.views: dict[object, View] = {}  #: of dynamic shared memory
        self.static_bytes = self.shared_bytes = self.local_bytes = 0
        self.steps = self.compacted_steps = self.compacted_lanes = 0

    def step(self, site: Site, mask: Mask, waits: bool = False, trip: int = 0) -> None:
        """Count one trip of a loop, or one call. Raises StepLimitError beyond the budget.

        ``waits``: the loop may wait for other threads. ``trip``: its number, from 0; to name the
        loop that does not end, and not one within it, the error is delayed a little, for one that
        has made many."""
        self.steps += 1
        if not mask.group.whole:
            self.compacted_steps += 1
            self.compacted_lanes += mask.group.rows * mask.group.threads
        most = self.launch.max_steps
        if self.steps > most and (trip * trip >= most or self.steps > most + most // 8):
            raise endless(self.launch.max_steps, site, mask, waits)

    def wait(self, site: Site, mask: Mask, frame, slots: tuple[int, ...], trip: int) -> None:
        """Begin a trip of a loop that may wait. ``slots``: variables that decide what it does.

        Other warps run between trips only in ``scheduled_batch``."""

    def issue(self, work: Work, mask: Mask) -> None:
        """Count a pass of the active lanes over a piece of code."""
        tally = self.tallies.get(work)
        if tally is None:
            tally = self.tallies[work] = np.zeros(WARP_SIZE + 1, np.int64)
        tally += mask.profile
        if self.recording:
            self.recorder.add("issue", work.line, mask, slots=work.slots)

    def branch(self, line: int, mask: Mask, yes: Mask | None, no: Mask | None) -> None:
        """Count a branch: every warp meets it, and those with lanes on both sides diverge."""
        counts = self.counts[line]
        counts.branches += mask.warps
        if yes is not None and no is not None:
            counts.divergent_branches += yes.warps + no.warps - mask.warps
        if self.recording:
            self.recorder.add("branch", line, mask, taken=yes)

    def leave(self, mask: Mask) -> None:
        """Let these threads return from the kernel."""
        if mask.group is not self.group:
            lanes = np.zeros(self.group.shape, bool)
            lanes.reshape(-1)[mask.group.places[mask.grid()]] = True
            mask = masked(self.group, lanes)
        self.exited = join(self.exited, mask)

    def exited_lanes(self, group) -> np.ndarray:
        """Return the lanes whose threads have returned from the kernel, ``(rows, threads)``."""
        if self.exited is None:
            return np.zeros(group.shape, bool)
        gone = self.exited.grid()
        return gone if group is self.group else gone.reshape(-1)[group.places]
