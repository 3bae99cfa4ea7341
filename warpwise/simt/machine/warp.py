"""Warp-level operations: shuffles, votes, matches and ``syncwarp``, with their masks checked.

All warps of a lane group run at once. A lane's number is its column modulo 32, as compaction never
takes a warp apart. Lanes as bits are described in ``members``. Rules: CUDA C++ Programming Guide,
"Warp Vote", "Warp Match" and "Warp Shuffle Functions"; PTX ISA, ``shfl.sync``."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.mask_errors import (
    different_masks,
    missing_lane,
    outside_its_mask,
    undefined_source,
)
from warpwise.simt.machine.members import (
    ALL_LANES,
    Members,
    arrived,
    packed,
    padded,
    present,
    seen,
    spread,
    words_of,
)
from warpwise.simt.machine.observer import Hooks
from warpwise.simt.machine.returned import Returned
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.undefined import Attempt
from warpwise.simt.types import Lanes, Value, as_index

_LANES = np.arange(WARP_SIZE, dtype=np.int64)


class Warps:
    """The warp-level operations of a batch."""

    def __init__(self, hooks: Hooks, returned: Returned, attempt: Attempt):
        self.hooks, self.returned, self.attempt = hooks, returned, attempt

    def syncwarp(self, named: Value, mask: Mask, site: Site) -> None:
        """Let lanes that name one another meet; groups of a warp with masks of their own do not."""
        members = self.members(named, mask, site, "syncwarp")
        for observe in self.hooks.syncwarp:
            observe(members, site)

    def shuffle(
        self, kind: str, named: Value, value: Value, lane: Value, mask: Mask, site: Site
    ) -> Value:
        """Return the value that each lane reads from another.

        ``kind``: idx, up, down or xor; ``lane``: its number, or its distance."""
        members = self.members(named, mask, site, "shuffle")
        source, beyond = sources(kind, lane, mask.group.threads)
        undefined = self._undefined(members, source, beyond, site)
        if not varies_by_lane(value, mask.group.threads):
            read = value
        elif len(source) == 1:
            # lanes that are not active may name any
            read = value.take(as_index(source[0]), axis=1, mode="clip")
        else:
            shape = max(len(source), len(value)), value.shape[1]
            source, value = np.broadcast_to(source, shape), np.broadcast_to(value, shape)
            read = np.take_along_axis(value, np.minimum(source, value.shape[1] - 1), axis=1)
        return read if undefined is None else self.attempt.filled(read, undefined)

    def vote(self, kind: str, named: Value, agrees: Value, mask: Mask, site: Site) -> Value:
        """Return the all, any, eq or ballot of the lanes that each mask names.

        ``agrees``: booleans."""
        members = self.members(named, mask, site, "vote")
        if not isinstance(agrees, np.ndarray):
            yes = members.arrived if agrees else np.zeros_like(members.arrived)
        else:
            yes = packed(members.lanes & agrees)
        votes = members.each(yes)
        if kind == "ballot":
            return as_int32(votes)
        if kind == "any":
            return _truth(votes != 0)
        everybody = members.each(np.broadcast_to(members.arrived, yes.shape))
        return _truth(votes == everybody if kind == "all" else (votes == everybody) | (votes == 0))

    def match(self, kind: str, named: Value, value: Value, mask: Mask, site: Site) -> Value:
        """Return the lanes that have the same value, as int32; the ``kind`` is any or all.

        Of all: (the lanes, True) if all that take part have it, else (0, False)."""
        members = self.members(named, mask, site, "match")
        alike = members.each(self._alike(members, value))
        if kind == "any":
            return as_int32(alike)
        everybody = members.each(members.arrived)
        same = alike == everybody  # if one lane finds everybody like itself, all do
        return as_int32(np.where(same, everybody, 0)[()]), _truth(same)

    def _alike(self, members: Members, value: Value) -> Lanes:
        """Return, for every lane, the word of the active lanes of its warp with the same value.

        One for every warp, if the value is the same in all its lanes."""
        threads = members.mask.group.threads
        if not varies_by_lane(value, threads):
            return members.arrived
        value = value.view(f"i{value.itemsize}")  # the machine compares bits
        rows = max(len(value), len(members.lanes))
        by_lane = padded(np.broadcast_to(value, (rows, threads))).reshape(-1, WARP_SIZE)
        there = padded(np.broadcast_to(members.lanes, (rows, threads))).reshape(-1, 1, WARP_SIZE)
        return words_of((by_lane[:, :, None] == by_lane[:, None, :]) & there).reshape(rows, -1)[
            :, :threads
        ]

    def active_lanes(self, mask: Mask) -> Value:
        """``activemask``, as uint32."""
        return np.asarray(seen(arrived(mask), mask.group.threads)).astype(np.uint32)[()]

    # --- masks ---

    def members(self, named: Value, mask: Mask, site: Site, word: str) -> Members:
        """Check the masks of the active lanes. Raises WarpMaskError.

        ``word``: the operation, for messages."""
        if not isinstance(named, np.ndarray):
            named = int(named) & ALL_LANES
        elif named.shape[1] != mask.group.threads:
            named = np.broadcast_to(
                named.astype(np.int64) & ALL_LANES, (len(named), mask.group.threads)
            )
        else:
            named = named.astype(np.int64) & ALL_LANES
        members = Members(mask, named, arrived(mask))
        if mask.lanes is None and type(named) is int and named == ALL_LANES:
            return members
        self._need_own_lane(members, site, word)
        self._need_named_lanes(members, site, word)
        if isinstance(named, np.ndarray):
            self._need_one_mask(members, site, word)
        return members

    def _need_own_lane(self, members: Members, site: Site, word: str) -> None:
        outside = (members.named >> _lane(members.mask.group)) & 1 == 0
        if outside.any() and (outside := outside & members.lanes).any():
            raise outside_its_mask(members, outside, site, word)

    def _need_named_lanes(self, members: Members, site: Site, word: str) -> None:
        """Raise for lanes that are named, have not returned and are elsewhere."""
        group = members.mask.group
        away = present(group) & ~members.arrived
        if not away.any():
            return
        if self.returned.anybody:
            away = away & ~packed(self.returned.lanes(group))
        absent = spread(away, group.threads) & members.named  # as each lane sees it
        if absent.any():
            absent = np.where(members.lanes, absent, 0)
            if absent.any():
                raise missing_lane(members, absent, site, word)

    def _need_one_mask(self, members: Members, site: Site, word: str) -> None:
        """Raise for lanes that name one another in different masks.

        Groups of a warp may have masks of their own."""
        named, lanes = np.broadcast_arrays(members.named, members.lanes)
        named, lanes = (padded(part).reshape(-1, WARP_SIZE) for part in (named, lanes))
        low = np.where(lanes, named, ALL_LANES + 1).min(axis=1)
        high = np.where(lanes, named, -1).max(axis=1)
        mixed = np.flatnonzero(low < high)
        if not mixed.size:
            return
        named, lanes = named[mixed], lanes[mixed]
        names = (named[:, :, None] >> _LANES) & 1 == 1  # [warp, lane, the other lane]
        differ = named[:, :, None] != named[:, None, :]
        bad = names & differ & lanes[:, :, None] & lanes[:, None, :]
        if bad.any():
            warp, lane, other = (int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
            masks, pair = (int(named[warp, lane]), int(named[warp, other])), (lane, other)
            raise different_masks(members, int(mixed[warp]), pair, masks, site, word)

    def _undefined(self, members: Members, source: Lanes, beyond: bool, site: Site) -> Lanes | None:
        """Return the lanes that read from one that does not take part, None if there are none.

        The first such read is kept: see ``undefined``. ``beyond``: some sources are no threads of
        the block.
        """
        group = members.mask.group
        everyone = type(members.named) is int and members.named == ALL_LANES
        if everyone and members.mask.lanes is None and not beyond and group.filled is None:
            return None
        threads = group.threads
        shape = max(len(source), len(members.lanes)), threads
        inside = np.broadcast_to(np.minimum(source, threads - 1), shape)
        there = np.take_along_axis(np.broadcast_to(members.lanes, shape), inside, axis=1)
        there = there & (source < threads) & ((members.named >> source % WARP_SIZE) & 1 == 1)
        bad: Lanes = ~there & members.lanes
        if not bad.any():
            return None
        attempt, returned = self.attempt, self.returned
        attempt.error = attempt.error or undefined_source(returned, members, source, bad, site)
        return bad


def varies_by_lane(value: Value, threads: int) -> bool:
    """Return False if a value is the same in all lanes of a warp."""
    return isinstance(value, np.ndarray) and value.shape[1] == threads and threads > 1


def _lane(group: LaneGroup) -> Lanes:
    return np.arange(group.threads, dtype=np.int64)[None, :] % WARP_SIZE


def sources(kind: str, lane: Value, threads: int) -> tuple[Lanes, bool]:
    """Return the column that each lane reads, and True if some may lie beyond the block.

    Columns are ``(1, threads)`` or ``(rows, threads)``. Only five bits of ``lane`` count; up and
    down beyond the warp's edge is the lane itself.
    """
    if not isinstance(lane, np.ndarray):
        return _fixed_sources(kind, int(lane) % WARP_SIZE, threads)
    return _sources(kind, lane.astype(np.int64) % WARP_SIZE, threads), True


@lru_cache(maxsize=256)
def _fixed_sources(kind: str, lane: int, threads: int) -> tuple[Lanes, bool]:
    source = _sources(kind, lane, threads)
    return source, bool((source >= threads).any())


def _sources(kind: str, lane: Value, threads: int) -> Lanes:
    at: Lanes
    column = np.arange(threads, dtype=np.int64)[None, :]
    own = column % WARP_SIZE
    if kind == "idx":
        at = np.broadcast_to(lane, np.broadcast_shapes(np.shape(lane), column.shape))
    elif kind == "xor":
        at = own ^ lane
    else:
        at = own - lane if kind == "up" else own + lane
        at = np.where((at < 0) | (at >= WARP_SIZE), own, at)
    source: Lanes = column - own + at
    return source


def as_int32(words: Value) -> Value:
    """Return words as int32, whose highest bit is the sign."""
    return np.asarray(words).astype(np.uint32).view(np.int32)[()]


def _truth(value: Value) -> Value:
    return value if isinstance(value, np.ndarray) else bool(value)
