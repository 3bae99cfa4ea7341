"""Errors of kernels that do not end: the loop, the lanes still in it, and what to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Protocol

import numpy as np

from warpwise.errors import EndlessError, StepLimitError
from warpwise.messages import (
    Block,
    Chosen,
    Count,
    Datum,
    Element,
    Joined,
    LaneNumbers,
    Limit,
    Message,
    Name,
    Part,
    Size,
    Source,
    Words,
    message,
)
from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import Who
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.mask_errors import lanes_of
from warpwise.simt.machine.memory import element_index
from warpwise.simt.machine.returned import Returned
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.waits import Arrival, Poll, Wait
from warpwise.simt.types import Lanes

_CLOSER = "check that every path through the loop comes closer to its end"
_ALONE = (
    "the launch has {threads:,} threads, and one alone is in this loop: if it does the work of "
    "all, let each thread take a part of it. Otherwise "
)
_UNCHANGED = "change, in every trip, something that the loop's condition reads"
_WAITING = (
    "a loop that waits needs another thread that can go on: find the one that should change what "
    "it waits for, and check that every trip comes closer to its end"
)
_WITHIN_A_WARP = (
    "here the lanes of a warp go through a loop together, as before Volta, and lanes that have "
    "left it wait for the others: let the thread that gets a lock do its work and free it inside "
    "the loop, let one lane of each warp take the lock, "
    "or use cuda.atomic.add and its kin without a lock"
)
_BLOCKS_TO_COME = (
    "a block may wait only for those that run at the same time, on a GPU too, as the others begin "
    "when one has ended: launch fewer blocks, or let each take its number from cuda.atomic.add "
    "when it begins, and wait only for smaller numbers"
)
_NO_THREADS = (
    "where Python has threads, as in JupyterLab, warps take turns, and this kernel may end: run it "
    "there. Here a block can wait only for blocks before it, and a warp for nobody"
)
_NOBODY_COMES = (
    "find the line that should change what they wait for, and what keeps its thread from it: a "
    "lock that is not freed on every path, a barrier that the waiting threads do not reach, a lane "
    "of the same warp that comes after them, in the other branch or behind the loop, or a flag or "
    "counter that still holds what an earlier launch left there"
)


class Stopped(Protocol):
    """A scheduled warp between its turns."""

    @property
    def wait(self) -> Wait | None: ...
    @property
    def arrival(self) -> Arrival | None: ...
    @property
    def returned(self) -> Returned: ...


def endless(most: int, site: Site, mask: Mask, waits: bool) -> StepLimitError:
    """Return the error of a kernel that exceeds its budget of steps.

    ``mask``: the lanes still in the loop, or calling the function, at ``site``; ``waits``: it may
    wait for other threads."""
    who, lanes = _first(mask)
    inside = "in this loop" if site.text.startswith(("while", "for")) else "here"
    what = message(
        "the kernel did not end within {most:,} steps: {threads} still {inside}, `{loop}`"
        "[[, first of them {lanes}]]",
        most=Limit(most),
        threads=Count(mask.threads, "thread", "is", "are"),
        inside=Words(inside),
        loop=Source(_statement(site.text)),
        lanes=lanes,
    )
    if site.endless:
        return EndlessError(what, site.where(**who), _UNCHANGED)
    if waits:
        return StepLimitError(what, site.where(**who), _WAITING)
    all_threads = mask.group.block_threads * prod(mask.group.grid)
    alone = _ALONE.format(threads=all_threads) if mask.threads == 1 < all_threads else ""
    try_this = message("[[{alone}]]{closer}", alone=Chosen(alone), closer=Words(_CLOSER))
    return StepLimitError(what, site.where(**who), try_this)


def unthreaded(site: Site, mask: Mask, parted: bool) -> StepLimitError:
    """Return the error of a kernel that waits in a Python without threads, as in a browser.

    ``mask``: the lanes in the loop at ``site``; ``parted``: others of their warp have left it."""
    who, lanes = _first(mask)
    what = message(
        "{threads} in this loop, `{loop}`[[, first of them {lanes}]], and no other warp can go on "
        "meanwhile: this Python has no threads, as in a browser",
        threads=Count(mask.threads, "thread", "waits", "wait"),
        loop=Source(_statement(site.text)),
        lanes=lanes,
    )
    return StepLimitError(what, site.where(**who), _WITHIN_A_WARP if parted else _NO_THREADS)


def stuck(warps: Sequence[Stopped], blocks_to_come: int) -> EndlessError:
    """Return the error of a kernel whose resident ``warps`` can never go on.

    Each waits in a loop or at a barrier."""
    for warp in warps:
        if warp.wait is not None and warp.wait.stuck is not None:
            return warp.wait.stuck()
    lead, wait = next((warp, warp.wait) for warp in warps if warp.wait is not None)
    here = [warp.wait for warp in warps if warp.wait is not None and warp.wait.site is wait.site]
    threads = sum(other.mask.threads for other in here)
    who, lanes = _first(wait.mask)
    left = wait.left & ~lead.returned.lanes(wait.mask.group)
    what = message(
        "the kernel can never end: {threads} in this loop, `{loop}`"
        "[[, first of them {lanes}{circumstances}]]",
        threads=Count(threads, "thread", "waits", "wait"),
        loop=Source(_statement(wait.site.text)),
        lanes=lanes,
        circumstances=Joined(tuple(_circumstances(warps, wait, left, blocks_to_come))),
    )
    cause = _WITHIN_A_WARP if left.any() else _BLOCKS_TO_COME if blocks_to_come else _NOBODY_COMES
    try_this = message("[[{cause}|{any}]]", cause=Chosen(cause), any=Words(_WAITING))
    return EndlessError(what, wait.site.where(**who), try_this)


def _circumstances(
    warps: Sequence[Stopped], wait: Wait, left: Lanes, blocks_to_come: int
) -> Iterator[Message]:
    """Describe the value that they wait for, and where the other warps are."""
    if wait.poll is not None:
        yield message("; they look at {polled}, and nobody changes it", polled=_polled(wait.poll))
    if left.any():
        yield message(
            "; {lanes} of that warp {have} left the loop",
            lanes=LaneNumbers(lanes_of(_word(left[0]))),
            have=Chosen("have" if np.count_nonzero(left) > 1 else "has"),
        )
    elsewhere = sum(warp.wait is not None and warp.wait.site is not wait.site for warp in warps)
    if elsewhere:
        yield message("; {warps} in other loops", warps=Count(elsewhere, "warp", "waits", "wait"))
    arrived = [warp.arrival for warp in warps if warp.arrival is not None]
    if arrived:
        yield message(
            "; {warps} at the barrier in {line}",
            warps=Count(len(arrived), "warp", "is", "are"),
            line=Words(arrived[0].site.there),
        )
    if blocks_to_come:
        yield message(
            "; {blocks} not begun, as there is room for {room:,} warps",
            blocks=Count(blocks_to_come, "block", "has", "have"),
            room=Size(len(warps)),
        )


def _polled(poll: Poll) -> Part:
    """Return the element that the first waiting lane reads, with its value."""
    request, array, group = poll.request, poll.request.array, poll.request.mask.group
    lane = np.unravel_index(int(np.argmax(request.mask.grid())), group.shape)
    offset, address, value = (
        np.broadcast_to(part, group.shape)[lane]
        for part in (request.offset, request.addresses, poll.value)
    )
    name = Name(array.root.name)
    if array.root is not array:
        byte = Size(address - array.root.address)
        return message(
            "{array} (byte {byte}), which is {value}", array=name, byte=byte, value=Datum(value)
        )
    element = Element(name, element_index(array, int(offset) * array.step))
    return message("{element}, which is {value}", element=element, value=Datum(value))


def _first(mask: Mask) -> tuple[Who, Message]:
    """Return the place of the first active lane, and its warp's active lanes in words."""
    group, lanes, numbers = mask.group, mask.grid(), mask.group.thread_numbers
    row, column = (int(i) for i in np.unravel_index(int(np.argmax(lanes)), group.shape))
    first = column // WARP_SIZE * WARP_SIZE
    warp = lanes[row, first : first + WARP_SIZE]
    who: Who = {"block": group.block_of(row), "thread": group.thread_of(row, column)}
    number = numbers[row if len(numbers) > 1 else 0, column] // WARP_SIZE
    return who, message(
        "{lanes} of warp {warp} of {block}",
        lanes=LaneNumbers(lanes_of(_word(warp))),
        warp=Size(number),
        block=Block(who["block"]),
    )


def _word(lanes: Lanes) -> int:
    """Return lanes of one warp as bits."""
    return sum(1 << lane for lane in np.flatnonzero(lanes).tolist())


def _statement(text: str) -> str:
    """Return a loop's head, without the rest of its line."""
    return text.partition("#")[0].strip().removesuffix("pass").rstrip().rstrip(":")
