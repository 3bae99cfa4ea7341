"""Errors of warp-level operations whose mask and lanes do not agree."""

from __future__ import annotations

import numpy as np

from warpwise.errors import WarpMaskError
from warpwise.messages import Chosen, Lane, LaneMask, LaneNumbers, Thread, Words, message
from warpwise.metrics import WARP_SIZE
from warpwise.simt.machine.members import Members
from warpwise.simt.machine.returned import Returned
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes

_ARRIVE = (
    "let all lanes of the warp get here, so outside of branches and of loops that lanes leave at "
    "different times, or name only those that do: mask = cuda.ballot_sync(0xffffffff, condition) "
    "before the branch. If all lanes should have one row here: does what chooses it differ between "
    "them?"
)
_NEUTRAL = (
    "let every lane that is read take part, with a neutral value such as 0, instead of a branch "
    "or a return; shfl_xor_sync stays within a group of lanes whose size is a power of two"
)


def missing_lane(members: Members, absent: Lanes, site: Site, word: str) -> WarpMaskError:
    """Return the error of a lane that others name and that is elsewhere.

    ``absent``: for every lane, the bits of the lanes it names that are elsewhere."""
    group = members.mask.group
    row, column = _first(absent != 0, group.shape)
    bits = int(np.broadcast_to(absent, group.shape)[row, column])
    lane = (bits & -bits).bit_length() - 1
    there = column // WARP_SIZE * WARP_SIZE + lane
    who = {"block": group.block_of(row), "thread": group.thread_of(row, there)}
    words = members.arrived[row if len(members.arrived) > 1 else 0]
    arrived = lanes_of(int(words[column // WARP_SIZE]))
    what = message(
        "{lane}[[ ({thread})]] is named in the mask[[ {mask:#010x}]] and does not reach this {word}"
        "[[: only {arrived} {do}]]",
        lane=Lane(lane),
        thread=Thread(who["thread"]),
        mask=LaneMask(_named(members, row, column)),
        word=Words(word),
        arrived=LaneNumbers(arrived),
        do=Chosen("do" if arrived.startswith("lanes") else "does"),
    )
    return WarpMaskError(what, site.where(**who), _ARRIVE)


def outside_its_mask(members: Members, outside: Lanes, site: Site, word: str) -> WarpMaskError:
    """Return the error of a lane, one of those ``outside``, that its own mask does not name."""
    group = members.mask.group
    row, column = _first(outside, group.shape)
    who = {"block": group.block_of(row), "thread": group.thread_of(row, column)}
    named = _named(members, row, column)
    what = message(
        "{lane}[[ ({thread})]] makes this {word} and is not in its own mask[[ {mask:#010x}]]",
        lane=Lane(column % WARP_SIZE),
        thread=Thread(who["thread"]),
        word=Words(word),
        mask=LaneMask(named),
    )
    try_this = message(
        "a mask in which the lane itself is named, such as 0xffffffff, "
        "or let only {lanes} get here",
        lanes=LaneNumbers(lanes_of(named)),
    )
    return WarpMaskError(what, site.where(**who), try_this)


def different_masks(
    members: Members,
    warp: int,
    lanes: tuple[int, int],
    masks: tuple[int, int],
    site: Site,
    word: str,
) -> WarpMaskError:
    """Return the error of two lanes that name each other in different masks.

    ``warp``: counted over the rows of the masks."""
    group = members.mask.group
    row, warp = divmod(warp, -(-group.threads // WARP_SIZE))
    thread = group.thread_of(row, warp * WARP_SIZE + lanes[0])
    what = message(
        "{lane}[[ ({thread})]] makes this {word} with [[the mask {mask:#010x}, "
        "which names {other}, and that lane's mask is {others:#010x}"
        "|a mask that names another lane, and that lane's mask is not the same]]",
        lane=Lane(lanes[0]),
        thread=Thread(thread),
        word=Words(word),
        mask=LaneMask(masks[0]),
        other=Lane(lanes[1]),
        others=LaneMask(masks[1]),
    )
    return WarpMaskError(
        what,
        site.where(block=group.block_of(row), thread=thread),
        "lanes that name one another need the same mask, "
        "such as cuda.ballot_sync(...) or cuda.match_any_sync(...) gives them",
    )


def undefined_source(
    returned: Returned, members: Members, source: Lanes, bad: Lanes, site: Site
) -> WarpMaskError:
    """Return the error of a shuffle that reads from a lane which does not take part.

    ``bad``: the lanes that read such a value. Raised only if it is used: see ``undefined``."""
    group = members.mask.group
    row, column = _first(bad, group.shape)
    at = int(np.broadcast_to(source, group.shape)[row, column])
    lane = at % WARP_SIZE
    who = {"block": group.block_of(row), "thread": group.thread_of(row, column)}
    if at >= group.threads or (group.filled is not None and not group.filled[row, at]):
        why = message("which is no thread: the block ends before it")
    elif returned.lanes(group)[row, at]:
        there = Thread(group.thread_of(row, at))
        why = message("whose {thread} has returned from the kernel", thread=there)
    elif not np.broadcast_to(members.lanes, group.shape)[row, at]:
        there = Thread(group.thread_of(row, at))
        why = message("whose {thread} does not take part in this shuffle", thread=there)
    else:
        named = LaneMask(_named(members, row, column))
        why = message("which its mask {mask:#010x} does not name", mask=named)
    what = message(
        "{lane} [[({thread}) reads from {source}, {why}|reads from one that does not take part]]: "
        "the value is undefined, and what the kernel does depends on such values",
        lane=Lane(column % WARP_SIZE),
        thread=Thread(who["thread"]),
        source=Lane(lane),
        why=why,
    )
    return WarpMaskError(what, site.where(**who), _NEUTRAL)


def lanes_of(word: int) -> str:
    """ "lanes 0-15, 20", "lane 3" or "no lane"."""
    lanes = [i for i in range(WARP_SIZE) if word >> i & 1]
    if not lanes:
        return "no lane"
    starts = [i for i in lanes if i - 1 not in lanes]
    ends = [i for i in lanes if i + 1 not in lanes]
    ranges = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return f"lane{'s' * (len(lanes) > 1)} {', '.join(ranges)}"


def _named(members: Members, row: int, column: int) -> int:
    if not isinstance(members.named, np.ndarray):
        return int(members.named)
    return int(members.named[row if len(members.named) > 1 else 0, column])


def _first(lanes: Lanes, shape: tuple[int, int]) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(np.broadcast_to(lanes, shape))), shape)
    return int(row), int(column)
