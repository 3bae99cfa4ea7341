"""What to say of a kernel that does not end: its loop, the lanes still in it, and what to try."""

from __future__ import annotations

import numpy as np

from warpwise.errors import StepLimitError
from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.mask_errors import lanes_of

_CLOSER = "check that every path through the loop comes closer to its end"
_WAITING = (
    "a loop that waits needs somebody who can go on. Here the lanes of a warp go through a loop together, as before Volta, and a block "
    "waits for blocks before it only: let the thread that gets a lock do its work and free it inside the loop, one thread of a block "
    "wait for an earlier block, or use cuda.atomic.add and its kin without a lock"
)


def endless(most: int, site, mask: Mask, waits: bool) -> StepLimitError:
    """``mask``: the lanes that are still in the loop, or call the function, at ``site``; ``waits``: for other threads, it may be."""
    extent, lanes = mask.extent, mask.grid()
    row, column = (int(i) for i in np.unravel_index(int(np.argmax(lanes)), extent.shape))
    first = column // WARP_SIZE * WARP_SIZE
    warp = lanes[row, first : first + WARP_SIZE]
    word = sum(1 << lane for lane in np.flatnonzero(warp).tolist())
    who = {"block": extent.block_of(row), "thread": extent.thread_of(row, column)}
    number = extent.thread_numbers[row if len(extent.thread_numbers) > 1 else 0, column] // WARP_SIZE
    inside = "in this loop" if site.text.startswith(("while", "for")) else "here"
    return StepLimitError(
        f"the kernel did not end within {most:,} steps: {mask.threads:,} thread{'s are' if mask.threads > 1 else ' is'} still {inside}, "
        f"`{_statement(site.text)}`, first of them {lanes_of(word)} of warp {number} of block {who['block']}",
        site.where(**who),
        _WAITING if waits else _CLOSER,
    )


def _statement(text: str) -> str:
    return text.partition("#")[0].strip().rstrip(":")
