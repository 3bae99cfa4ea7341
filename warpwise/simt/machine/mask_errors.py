"""What to say when the mask of a warp-level operation and the lanes that make it do not agree."""

from __future__ import annotations

import numpy as np

from warpwise.errors import WarpMaskError
from warpwise.metrics import WARP_SIZE

_ARRIVE = (
    "let all lanes of the warp get here, so outside of branches and of loops that lanes leave at different times, or name only those "
    "that do: mask = cuda.ballot_sync(0xffffffff, condition) before the branch"
)
_NEUTRAL = (
    "let every lane that is read take part, with a neutral value such as 0, instead of a branch or a return; "
    "shfl_xor_sync stays within a group of lanes whose size is a power of two"
)


def missing_lane(members, absent: np.ndarray, site, word: str) -> WarpMaskError:
    """``absent``: for every lane, the bits of lanes it names that are elsewhere."""
    extent = members.mask.extent
    absent = np.broadcast_to(absent, extent.shape)
    row, column = (int(i) for i in np.unravel_index(int(np.argmax(absent != 0)), extent.shape))
    bits = int(absent[row, column])
    lane = (bits & -bits).bit_length() - 1
    there = column // WARP_SIZE * WARP_SIZE + lane
    who = {"block": extent.block_of(row), "thread": extent.thread_of(row, there)}
    arrived = lanes_of(int(members.arrived[row if len(members.arrived) > 1 else 0, column // WARP_SIZE]))
    return WarpMaskError(
        f"lane {lane} (thread {who['thread']}) is named in the mask {_named(members, row, column):#010x} and does not reach this {word}: "
        f"only {arrived} {'do' if ' ' in arrived and arrived.startswith('lanes') else 'does'}",
        site.where(**who),
        _ARRIVE,
    )


def outside_its_mask(members, outside: np.ndarray, site, word: str) -> WarpMaskError:
    extent = members.mask.extent
    row, column = _first(outside, extent.shape)
    who = {"block": extent.block_of(row), "thread": extent.thread_of(row, column)}
    named = _named(members, row, column)
    return WarpMaskError(
        f"lane {column % WARP_SIZE} (thread {who['thread']}) makes this {word} and is not in its own mask {named:#010x}",
        site.where(**who),
        f"a mask in which the lane itself is named, such as 0xffffffff, or let only {lanes_of(named)} get here",
    )


def different_masks(members, warp: int, lanes: tuple[int, int], masks: tuple[int, int], site, word: str) -> WarpMaskError:
    """``warp``: counted over the rows of the masks."""
    extent = members.mask.extent
    row, warp = divmod(warp, -(-extent.threads // WARP_SIZE))
    who = {"block": extent.block_of(row), "thread": extent.thread_of(row, warp * WARP_SIZE + lanes[0])}
    return WarpMaskError(
        f"lane {lanes[0]} (thread {who['thread']}) makes this {word} with the mask {masks[0]:#010x}, which names lane {lanes[1]}, "
        f"and that lane's mask is {masks[1]:#010x}",
        site.where(**who),
        "lanes that name one another need the same mask, such as cuda.ballot_sync(...) or cuda.match_any_sync(...) gives them",
    )


def undefined_source(batch, members, source: np.ndarray, bad: np.ndarray, site) -> WarpMaskError:
    """``bad``: the lanes that read an undefined value. Raised only if that is more than thrown away: see ``undefined``."""
    extent = members.mask.extent
    row, column = _first(bad, extent.shape)
    at = int(np.broadcast_to(source, extent.shape)[row, column])
    lane, who = at % WARP_SIZE, {"block": extent.block_of(row), "thread": extent.thread_of(row, column)}
    if at >= extent.threads or (extent.filled is not None and not extent.filled[row, at]):
        why = "which is no thread: the block ends before it"
    elif batch.exited_lanes(extent)[row, at]:
        why = f"whose thread {extent.thread_of(row, at)} has returned from the kernel"
    elif not np.broadcast_to(members.lanes, extent.shape)[row, at]:
        why = f"whose thread {extent.thread_of(row, at)} does not take part in this shuffle"
    else:
        why = f"which its mask {_named(members, row, column):#010x} does not name"
    return WarpMaskError(
        f"lane {column % WARP_SIZE} (thread {who['thread']}) reads from lane {lane}, {why}: the value is undefined, and what the kernel "
        "does depends on such values",
        site.where(**who),
        _NEUTRAL,
    )


def lanes_of(word: int) -> str:
    """"lanes 0-15, 20", "lane 3" or "no lane"."""
    lanes = [i for i in range(WARP_SIZE) if word >> i & 1]
    if not lanes:
        return "no lane"
    starts = [i for i in lanes if i - 1 not in lanes]
    ends = [i for i in lanes if i + 1 not in lanes]
    ranges = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return f"lane{'s' * (len(lanes) > 1)} {', '.join(ranges)}"


def _named(members, row: int, column: int) -> int:
    if not isinstance(members.named, np.ndarray):
        return members.named
    return int(members.named[row if len(members.named) > 1 else 0, column])


def _first(lanes: np.ndarray, shape: tuple[int, int]) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(np.broadcast_to(lanes, shape))), shape)
    return int(row), int(column)
