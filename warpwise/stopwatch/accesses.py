"""What one request of a warp costs the load/store units, in clocks.

A request is cut into passes: by the width of the path to registers, by the banks that its words lie
in, by the lanes whose addresses a clock takes, and in global memory by lines of 128 bytes. Rules of
banks and of wide accesses: CUDA C++ Programming Guide, "Shared Memory"; four lines a clock:
te42kyfo/gpu-benches, gpu-strides, where 32 lines take 8 to 9 clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from warpwise.metrics import BANK_BYTES, BANKS, SECTOR_BYTES
from warpwise.stopwatch.cards import Core

LINE_BYTES = 128
LINES_PER_CLOCK = 4
#: Lanes that a pass can serve, by the bytes of each.
LANES_TOGETHER = {8: 16, 16: 8}


def clocks(addresses: Sequence[int], width: int, space: str, core: Core) -> float:
    """Return the clocks of one request; ``addresses`` are by lane, -1 for one that takes no part.

    ``width``: bytes of each lane, from which its address is a multiple."""
    lanes = {lane: a // width * width for lane, a in enumerate(addresses) if a >= 0}
    if not lanes:
        return 1.0
    path = core.shared_path if space == "shared" else core.l1_path
    passes = sum(_clocks(group, width, path, core) for group in _groups(lanes, width, path))
    if space == "shared":
        return float(passes)
    return float(max(passes, -(-len(lines(lanes.values())) // LINES_PER_CLOCK)))


def lines(addresses: object) -> set[int]:
    """Return the lines of 128 bytes that addresses lie in."""
    return {a // LINE_BYTES for a in addresses}  # type: ignore[attr-defined]


def sectors(addresses: Sequence[int], width: int) -> set[int]:
    """Return the sectors of 32 bytes that a request touches."""
    ends = (0, max(width, 1) - 1)
    return {(a + end) // SECTOR_BYTES for a in addresses if a >= 0 for end in ends}


def atomic_clocks(addresses: Sequence[int]) -> float:
    """Return the passes of an atomic in shared memory: lanes with one address take turns."""
    counts = Counter(a for a in addresses if a >= 0)
    banks = Counter(a // BANK_BYTES % BANKS for a in counts)
    return float(max([1, *counts.values(), *banks.values()]))


def _groups(lanes: dict[int, int], width: int, path: int) -> list[list[int]]:
    """Return the addresses of the lanes that are served together.

    Quarters of a warp with accesses of 16 bytes go in pairs where together they need no more."""
    size = LANES_TOGETHER.get(width, 32)
    groups = [[a for lane, a in lanes.items() if lane // size == k] for k in range(32 // size)]
    if width < 16:
        return [group for group in groups if group]
    return [pair for half in (groups[:2], groups[2:]) for pair in _paired(half, width, path)]


def _paired(half: list[list[int]], width: int, path: int) -> list[list[int]]:
    both = half[0] + half[1]
    words = _words(both, width)
    fits = len(words) * BANK_BYTES <= LINE_BYTES and _conflicts(words) == 1
    return [both] if both and fits else [group for group in half if group]


def _words(addresses: Sequence[int], width: int) -> set[int]:
    each = max(1, width // BANK_BYTES)
    return {a // BANK_BYTES + i for a in addresses for i in range(each)}


def _conflicts(words: set[int]) -> int:
    return max(Counter(word % BANKS for word in words).values())


def _clocks(addresses: Sequence[int], width: int, path: int, core: Core) -> int:
    """Return the clocks of lanes that are served together: the slowest of three limits."""
    words = _words(addresses, width)
    by_width = -(-len(words) * BANK_BYTES // path)
    by_lanes = -(-len(addresses) // core.load_store_lanes)
    return max(_conflicts(words), by_width, by_lanes)
