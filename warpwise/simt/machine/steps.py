"""What to say of a kernel that does not end: its loop, the lanes still in it, and what to try."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpwise.errors import StepLimitError
from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.mask_errors import lanes_of
from warpwise.simt.sanitizer.sanitized import element_index

_CLOSER = "check that every path through the loop comes closer to its end"
_WAITING = (
    "a loop that waits needs somebody who can go on: see who should change what it waits for, and whether every trip comes closer "
    "to its end"
)
_WITHIN_A_WARP = (
    "here the lanes of a warp go through a loop together, as before Volta, and lanes that have left it wait for the others: let the "
    "thread that gets a lock do its work and free it inside the loop, let one lane of each warp take the lock, "
    "or use cuda.atomic.add and its kin without a lock"
)
_BLOCKS_TO_COME = (
    "a block may wait only for those that run at the same time, on a GPU too, as the others begin when one has ended: launch fewer "
    "blocks, or let each take its number from cuda.atomic.add when it begins, and wait only for smaller numbers"
)
_NOBODY_COMES = (
    "find the line that should change what they wait for, and what keeps its thread from it: a lock that is not freed on every path, a "
    "barrier that the waiting threads do not reach, a lane of the same warp that comes after them, in the other branch or behind the "
    "loop, or a flag or counter that still holds what an earlier launch left there"
)


def endless(most: int, site, mask: Mask, waits: bool) -> StepLimitError:
    """``mask``: the lanes that are still in the loop, or call the function, at ``site``; ``waits``: for other threads, it may be."""
    who, lanes = _first(mask)
    inside = "in this loop" if site.text.startswith(("while", "for")) else "here"
    return StepLimitError(
        f"the kernel did not end within {most:,} steps: {mask.threads:,} thread{'s are' if mask.threads > 1 else ' is'} still {inside}, "
        f"`{_statement(site.text)}`, first of them {lanes}",
        site.where(**who),
        _WAITING if waits else _CLOSER,
    )


def stuck(warps: list, blocks_to_come: int) -> StepLimitError:
    """``warps``: those in flight, each waiting in a loop or at a barrier, so that none can ever go on."""
    waiting = [warp.wait for warp in warps if warp.wait is not None]
    wait, (lead,) = waiting[0], [warp for warp in warps if warp.wait is waiting[0]]
    threads = sum(other.mask.threads for other in waiting if other.site is wait.site)
    who, lanes = _first(wait.mask)
    left = wait.left & ~lead.batch.exited_lanes(wait.mask.extent)
    return StepLimitError(
        f"the kernel can never end: {threads:,} thread{'s wait' if threads > 1 else ' waits'} in this loop, "
        f"`{_statement(wait.site.text)}`, first of them {lanes}"
        + "".join(f"; {more}" for more in _circumstances(warps, wait, left, blocks_to_come)),
        wait.site.where(**who),
        _WITHIN_A_WARP if left.any() else _BLOCKS_TO_COME if blocks_to_come else _NOBODY_COMES,
    )


def _circumstances(warps: list, wait, left: np.ndarray, blocks_to_come: int) -> Iterator[str]:
    """What they wait for, and where the others are."""
    if wait.poll is not None:
        yield f"they look at {_polled(wait.poll)}, and nobody changes it"
    if left.any():
        yield f"{lanes_of(_word(left[0]))} of that warp {'have' if np.count_nonzero(left) > 1 else 'has'} left the loop"
    elsewhere = sum(warp.wait is not None and warp.wait.site is not wait.site for warp in warps)
    if elsewhere:
        yield f"{elsewhere:,} warp{'s wait' if elsewhere > 1 else ' waits'} in other loops"
    arrived = [warp.arrival for warp in warps if warp.arrival is not None]
    if arrived:
        yield f"{len(arrived):,} warp{'s are' if len(arrived) > 1 else ' is'} at the barrier in line {arrived[0].site.line}"
    if blocks_to_come:
        yield f"{blocks_to_come:,} block{'s have' if blocks_to_come > 1 else ' has'} not begun, as there is room for {len(warps):,} warps"


def _polled(poll) -> str:
    """The element that the first waiting lane reads, and its value."""
    array, extent = poll.array, poll.mask.extent
    lane = np.unravel_index(int(np.argmax(poll.mask.grid())), extent.shape)
    offset, address = (int(np.broadcast_to(part, extent.shape)[lane]) for part in (poll.place.offset, poll.place.addresses))
    value = np.broadcast_to(np.asarray(poll.value), extent.shape)[lane]
    if array.root is not array:
        return f"{array.root.name} (byte {address - array.root.address}), which is {value}"
    index = ", ".join(map(str, element_index(array, offset * array.step)))
    return f"{array.name}[{index}], which is {value}"


def _first(mask: Mask) -> tuple[dict, str]:
    """Block and thread of the first active lane, and the active lanes of its warp in words."""
    extent, lanes = mask.extent, mask.grid()
    row, column = (int(i) for i in np.unravel_index(int(np.argmax(lanes)), extent.shape))
    first = column // WARP_SIZE * WARP_SIZE
    warp = lanes[row, first : first + WARP_SIZE]
    who = {"block": extent.block_of(row), "thread": extent.thread_of(row, column)}
    number = extent.thread_numbers[row if len(extent.thread_numbers) > 1 else 0, column] // WARP_SIZE
    return who, f"{lanes_of(_word(warp))} of warp {number} of block {who['block']}"


def _word(lanes: np.ndarray) -> int:
    """Lanes of one warp as bits."""
    return sum(1 << lane for lane in np.flatnonzero(lanes).tolist())


def _statement(text: str) -> str:
    """A loop's head, without what stands behind it in the line."""
    return text.partition("#")[0].strip().removesuffix("pass").rstrip().rstrip(":")
