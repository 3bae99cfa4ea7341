"""The lanes that take part in a warp-level operation, as bits.

``words`` are one integer for each warp, ``(rows, warps)``, with a bit for each lane; a row stands
for all rows of the lane group where they are alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from warpwise.metrics import WARP_SIZE
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.types import Lanes, Value

ALL_LANES = 0xFFFFFFFF


@dataclass(frozen=True)
class Members:
    """The lanes that take part in a warp-level operation.

    ``named``: the mask as 32 bits, an int or one for each lane."""

    mask: Mask
    named: Value
    arrived: Lanes  #: words of the active lanes

    @cached_property
    def lanes(self) -> Lanes:
        """The active lanes, ``(1, threads)`` or ``(rows, threads)``."""
        lanes, group = self.mask.lanes, self.mask.group
        if lanes is None:
            return np.ones((1, group.threads), bool) if group.filled is None else group.filled
        return np.broadcast_to(lanes, (len(lanes), group.threads))

    def each(self, words: Lanes) -> Value:
        """Return words as every lane sees them: the bits of its own mask.

        Scalars and ``(rows, 1)`` where lanes do not differ."""
        threads = self.mask.group.threads
        if isinstance(self.named, np.ndarray):
            return spread(words, threads) & self.named
        return seen(words & self.named, threads)


def packed(lanes: Lanes) -> Lanes:
    """Return booleans ``(rows, threads)`` as words."""
    return words_of(padded(lanes).reshape(len(lanes), -1, WARP_SIZE))


def spread(words: Lanes, threads: int) -> Lanes:
    """Return words, or one for each lane already, as ``(rows, threads)``."""
    return words if words.shape[1] == threads else np.repeat(words, WARP_SIZE, axis=1)[:, :threads]


def seen(words: Lanes, threads: int) -> Value:
    """Return words as a value of the kernel.

    A scalar where all are equal, ``(rows, 1)`` where a row is one warp."""
    if len(words) == 1 and (words == words[0, 0]).all():
        return words[0, 0]
    return words if threads <= WARP_SIZE and words.shape[1] == 1 else spread(words, threads)


def present(group: LaneGroup) -> Lanes:
    """Return the words of the lanes that are threads."""
    return _full_words(group.threads) if group.filled is None else packed(group.filled)


@lru_cache(maxsize=64)
def _full_words(threads: int) -> Lanes:
    return packed(np.ones((1, threads), bool))


def arrived(mask: Mask) -> Lanes:
    """Return the words of the active lanes."""
    if mask.lanes is None:
        return present(mask.group)
    return packed(np.broadcast_to(mask.lanes, (len(mask.lanes), mask.group.threads)))


def words_of(bits: Lanes) -> Lanes:
    """Return booleans ``(..., 32)`` as integers."""
    return np.packbits(bits, axis=-1, bitorder="little").view("<u4")[..., 0].astype(np.int64)


def padded(values: Lanes) -> Lanes:
    """Return lanes ``(rows, threads)`` filled up to whole warps."""
    short = -values.shape[1] % WARP_SIZE
    return np.pad(values, ((0, 0), (0, short))) if short else np.ascontiguousarray(values)
