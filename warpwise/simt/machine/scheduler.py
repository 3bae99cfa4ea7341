"""The warp scheduler: runs a kernel whose warps or blocks may wait for one another, warp by warp.

As many blocks as fit are resident together, as on a GPU; the others begin as room gets free. In
each round every resident warp has its turn, by block and then by warp: so atomic operations happen
in that order too, the same in every run. A turn ends after a trip of a loop that waits, at a
barrier, or with the kernel.

A warp whose trip reads one place only, and goes like the one before, makes the next when another
value is there: the number of its fruitless trips on a GPU is unknown. A wait that can never end is
reported at once: in a whole round every warp only made the same trip once more, and memory did not
change. Waits that look different every time, as one that counts its trips in memory, are left to
the budget of steps.

What this leaves out: lanes of one warp that wait for each other, warps that interrupt one another
in the middle of a trip, and the limits of registers and shared memory on resident blocks."""

from __future__ import annotations

import math

from warpwise.metrics import WARP_SIZE
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.program import Program, run_batch
from warpwise.simt.machine.progress import Progress
from warpwise.simt.machine.scheduled_batch import ScheduledBatch, Warp, stop
from warpwise.simt.machine.steps import endless, stuck
from warpwise.simt.machine.whole_block import WholeBlock

RESIDENT_WARPS = 1024  # at most; each has a thread of the system, and one block may have 32
SHARE = 10  # these slower trips may be a tenth of max_steps


class Scheduler:
    """The resident blocks of a launch, and the turns since one of them made progress."""

    def __init__(self, program: Program, state: LaunchState, bar: Progress):
        self.program, self.state, self.bar = program, state, bar
        self.bound = state.launch.arguments
        self.blocks, self.begun, self.room = math.prod(state.grid), 0, RESIDENT_WARPS
        self.warps: list[Warp] = []
        self.running: Warp | None = None
        self.quiet = 0  #: turns since anything changed
        self.trips = 0  #: since a warp ended or a block began or passed a barrier

    def run(self) -> None:
        try:
            while self._begin_blocks() or self.warps:
                for warp in tuple(self.warps):
                    if warp.sleeps:
                        self.quiet += 1
                    elif warp.arrival is None:
                        self._turn(warp)
        finally:
            # who runs must end before others wake up
            stop(sorted(self.warps, key=lambda warp: warp is not self.running))

    def _turn(self, warp: Warp) -> None:
        memory, barriers, before = warp.batch.memory, warp.batch.barriers, warp.wait
        changes = memory.changes
        self.running = warp
        warp.turn()
        if warp.coroutine.ended:
            self._end(warp)
        if barriers.all_arrived:
            barriers.complete()
        if warp.wait is None:
            self.quiet = self.trips = 0
            return
        changed = memory.changes != changes
        if changed or before is None or warp.wait.state != before.state:
            self.quiet = 0
        else:
            self.quiet += 1
            warp.sleep()
        self.trips += 1
        if self.trips * SHARE > self.state.max_steps:
            raise endless(self.trips, warp.wait.site, warp.wait.mask, True)

    def _end(self, warp: Warp) -> None:
        self.warps.remove(warp)
        warp.batch.resident.remove(warp)
        if not warp.batch.resident:
            warp.batch.end()
            self.bar.advance(1)

    # --- blocks ---

    def _begin_blocks(self) -> bool:
        """Let blocks begin for which there is room; return True if warps are resident.

        Raises StepLimitError where none begins and no warp can go on."""
        size, begun = -(-self.state.threads // WARP_SIZE), self.begun
        while self.begun < self.blocks and (not self.warps or len(self.warps) + size <= self.room):
            self._begin()
        if begun != self.begun:
            self.quiet = self.trips = 0
        elif self.warps and self.quiet >= sum(warp.arrival is None for warp in self.warps):
            raise stuck(self.warps, self.blocks - self.begun)
        return bool(self.warps)

    def _begin(self) -> None:
        before = len(self.warps)
        block = ScheduledBatch(self.state, self.begun, self.program, self.bound)
        self.warps += block.resident
        try:
            for warp in block.resident:
                warp.coroutine.start()
        except RuntimeError:  # the system gives no more threads, or has none, as in a browser
            stop(block.resident)
            del self.warps[before:]
            self.room = before
            if not self.warps:
                self._run_whole()
        else:
            block.begin()
            self.begun += 1

    def _run_whole(self) -> None:
        """Run a block by itself without threads, its warps in step."""
        run_batch(self.program, WholeBlock(self.state, self.begun), self.bound)
        self.begun += 1
        self.bar.advance(1)
