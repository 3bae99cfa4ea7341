"""What one request of a warp costs the load/store units, in clocks.

A request is cut into passes: by the width of the path to registers, by the banks that its words lie
in, by the lanes whose addresses a clock takes, and in global memory by lines of 128 bytes. Rules of
banks: CUDA C++ Programming Guide, "Shared Memory". A wide access takes the lanes in groups, of
which two go together where neighbours read one address (NVIDIA's developer forum, "Unexpected
shared memory bank conflict", 2019). From te42kyfo/gpu-benches, gpu-strides: each lane's bytes take
their part of the path from L1, even if all lanes read one word (a double for all takes two clocks
on an A100, as neighbours do); words in one bank of L1 take turns, as in shared memory (a stride of
32 floats takes 32 clocks); 32 lines take 8 to 9 clocks."""

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
    groups = _groups(lanes, width)
    if space == "shared":
        merged = _merged(groups, lanes) if width >= 8 else groups
        return float(
            sum(_clocks(group, width, core.shared_path, core) for group in merged if group)
        )
    passes = sum(_clocks(group, width, core.l1_path, core) for group in groups if group)
    by_width = -(-len(lanes) * width // core.l1_path)
    by_lines = -(-len(lines(lanes.values())) // LINES_PER_CLOCK)
    return float(max(passes, by_width, by_lines))


def lines(addresses: object) -> set[int]:
    """Return the lines of 128 bytes that addresses lie in."""
    return {a // LINE_BYTES for a in addresses}  # type: ignore[attr-defined]


def sectors(addresses: Sequence[int], width: int) -> set[int]:
    """Return the sectors of 32 bytes that a request touches."""
    ends = (0, max(width, 1) - 1)
    return {(a + end) // SECTOR_BYTES for a in addresses if a >= 0 for end in ends}


def partly_stored(addresses: Sequence[int], width: int) -> int:
    """Return how many sectors a request stores only a part of."""
    ends = {a + i for a in addresses if a >= 0 for i in range(width)}
    filled = Counter(end // SECTOR_BYTES for end in ends)
    return sum(n < SECTOR_BYTES for n in filled.values())


def atomic_clocks(addresses: Sequence[int]) -> float:
    """Return the passes of an atomic in shared memory: lanes with one address take turns."""
    counts = Counter(a for a in addresses if a >= 0)
    banks = Counter(a // BANK_BYTES % BANKS for a in counts)
    return float(max([1, *counts.values(), *banks.values()]))


def _groups(lanes: dict[int, int], width: int) -> list[list[int]]:
    """Return the addresses of the lanes that are served together, some groups empty."""
    size = LANES_TOGETHER.get(width, 32)
    return [[a for lane, a in lanes.items() if lane // size == k] for k in range(32 // size)]


def _merged(groups: list[list[int]], lanes: dict[int, int]) -> list[list[int]]:
    """Merge groups in pairs where all neighbours, or all lanes two apart, have one address."""
    for apart in (1, 2):
        if all(lanes.get(lane ^ apart, a) == a for lane, a in lanes.items()):
            pairs = zip(groups[::2], groups[1::2], strict=True)
            return [first + second for first, second in pairs]
    return groups


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
