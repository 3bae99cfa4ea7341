"""A launch in batches of blocks that run together.

Blocks are independent, so that any number of them can run together, up to what fits a core's cache.
In two kinds of kernels they are not: one that syncs the grid needs all its blocks in one batch, and
one with a loop that may wait runs warp by warp, see ``scheduler``. One that does both goes by
batch: there a wait ends only if lanes that are in no loop have given the signal before."""

from __future__ import annotations

import math
from collections.abc import Iterable

from warpwise.devices import Device
from warpwise.errors import LaunchError
from warpwise.messages import Limit, Name, Size, message
from warpwise.metrics import WARP_SIZE
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.program import Program, run_batch
from warpwise.simt.machine.progress import Progress
from warpwise.simt.machine.scheduler import Scheduler

BATCH_LANES = 16_384  # sized to a core's cache: larger batches are slower
MOST_BATCH_LANES = 64 * BATCH_LANES  # where few of a batch's warps run for most of its time
BATCH_BLOCKS = 512
# of a batch, in shared arrays; what the sanitizer keeps of them can be ten times as much
SHARED_BYTES = 32 << 20
LOCAL_BYTES = 256 << 20  # of a batch, in local arrays
GRID_LANES = 1 << 20  # of a launch that syncs its grid


def run(
    program: Program,
    state: LaunchState,
    progress: bool | None,
    chosen: Iterable[int] | None = None,
) -> None:
    """Run a kernel over the grid, or over ``chosen`` blocks of it, each by itself.

    An interrupt ends it between two operations; arrays keep what was written until then."""
    blocks = math.prod(state.grid)
    if program.grid_syncs:
        _check_cooperative(state, blocks, state.device)
    for begin in state.hooks.launch_begins:
        begin(state.launch)
    with Progress(program.kernel.name, blocks, progress) as bar:
        if chosen is not None:
            _run_chosen(program, state, chosen, bar)
        elif program.waits and not program.grid_syncs:
            Scheduler(program, state, bar).run()
        else:
            _run_in_batches(program, state, blocks, bar)
    for end in state.hooks.launch_ends:
        end()


def _run_chosen(program: Program, state: LaunchState, chosen: Iterable[int], bar: Progress) -> None:
    for block in chosen:
        run_batch(program, Batch(state, block, 1), state.launch.arguments)
        bar.advance(1)


def _run_in_batches(program: Program, state: LaunchState, blocks: int, bar: Progress) -> None:
    sizes, first = Sizes(program, state, blocks), 0
    while first < blocks:
        count = min(sizes.count, blocks - first)
        batch = Batch(state, first, count)
        run_batch(program, batch, state.launch.arguments)
        sizes.learn(batch)
        first += count
        bar.advance(count)


class Sizes:
    """The number of blocks of the next batch.

    After a batch that was compacted for most of its trips, so many more that the compacted lanes
    will be about as many as the lanes of an ordinary batch."""

    def __init__(self, program: Program, state: LaunchState, blocks: int):
        self.state, self.lanes = state, BATCH_LANES
        self.fixed = blocks if program.grid_syncs else 0

    @property
    def count(self) -> int:
        state = self.state
        by_lanes, by_blocks = self.lanes // state.threads, BATCH_BLOCKS * self.lanes // BATCH_LANES
        by_memory = SHARED_BYTES // max(state.shared_bytes, state.dynamic_bytes, 1)
        return self.fixed or max(1, min(by_lanes, by_blocks, by_memory))

    def learn(self, batch: Batch) -> None:
        """Adapt to the batch that has just run."""
        self.lanes, lanes = BATCH_LANES, batch.group.rows * batch.group.threads
        if 2 * batch.compacted_steps > batch.steps:
            compacted = batch.compacted_lanes // batch.compacted_steps
            arrays = batch.arrays.local_arrays.values()
            local = sum(array.values.nbytes for array in arrays) // lanes
            most = min(MOST_BATCH_LANES, LOCAL_BYTES // max(local, 1))
            self.lanes = max(BATCH_LANES, min(BATCH_LANES * lanes // compacted, most))


def _check_cooperative(launch: LaunchState, blocks: int, device: Device) -> None:
    """Raise LaunchError unless all blocks can be on the GPU at once.

    Registers and shared memory can make that fewer than counted here."""
    warps = -(-launch.threads // WARP_SIZE)
    most = device.sms * min(device.sm.blocks, device.sm.warps // warps)
    if blocks > most:
        raise LaunchError(
            message(
                "[[{blocks:,} blocks of {threads:,} threads|so many blocks]] cannot be on {device} "
                "at once, and a kernel that syncs its grid needs that[[: at most {most:,} can]]. "
                "Launch fewer blocks, and let each thread go over several elements",
                blocks=Size(blocks),
                threads=Size(launch.threads),
                device=Name(device.name),
                most=Size(most),
            )
        )
    if blocks * launch.threads > GRID_LANES:
        raise LaunchError(
            message(
                "a kernel that syncs its grid runs with at most {most:,} threads here"
                "[[, not {threads:,}]]: "
                "launch fewer blocks, and let each thread go over several elements",
                most=Limit(GRID_LANES),
                threads=Size(blocks * launch.threads),
            )
        )
