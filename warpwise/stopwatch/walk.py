"""The instructions of a warp in the order in which it runs them.

``trips`` says how often each way is taken. Here a warp walks them: where ways part, it takes each
in proportion, evenly spread, and leaves a loop when that is due. A number of an instruction plus
the count of all instructions stands for a guarded one that does nothing this time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from warpwise.stopwatch.flow import ENTRY, Flow
from warpwise.stopwatch.trips import Guarded, Trips

MOST_INSTRUCTIONS = 40_000  #: of a warp; longer walks are shortened, and the rest is extrapolated
MOST_WHOLE = 400_000  #: of a warp whose loops do not repeat evenly, which is run whole up to there
KEPT = (6, 12)  #: trips of the long loop that the two short walks make, at least
FEWEST_PASSES = 3  #: of a loop that is to be longer, from which it repeats itself
MOST_OF_A_WALK = 0.5  #: that the rounds of such a loop take
SAME_LOOP = 1.5  #: passes of two blocks, one over the other, below which one loop has both


def blocks_in_turn(flow: Flow, trips: Trips, most: int = 2_000_000) -> list[int]:
    """Return the numbers of the blocks that a warp runs, in order.

    A walk that reaches the end too early leaves rounds out. They are put in where it passes them,
    or, if the counts name no way there, behind the block before them."""
    walker = _Walker(flow, trips)
    order = walker.on_from(walker.choices[ENTRY][0][0], most)
    while len(order) < most and (gap := walker.gap(order)):
        place, start = gap
        order[place:place] = walker.on_from(start, most)[:-1]
    return order


class _Walker:
    """Where ways lead and how often, and how often each has been taken."""

    def __init__(self, flow: Flow, trips: Trips):
        self.loops = flow.loops()
        self.choices = _choices(flow, trips)
        self.visits = Counter[int]()
        self.taken = {n: [0] * len(found) for n, found in self.choices.items()}

    def on_from(self, at: int, most: int) -> list[int]:
        """Walk from a block until no way is left to take."""
        order: list[int] = []
        while at >= 0 and len(order) < most:
            order.append(at)
            self.visits[at] += 1
            ways, loop = self.choices.get(at, []), _innermost(self.loops, at)
            chosen = _due(ways, self.taken.get(at, []), self.visits[at], loop)
            if chosen is None:
                break
            self.taken[at][chosen] += 1
            at = ways[chosen][0]
        return order

    def gap(self, order: Sequence[int]) -> tuple[int, int] | None:
        """Return where a walk leaves rounds out, and the block from which they lead back to it."""
        open_ones = {
            block
            for block, ways in self.choices.items()
            if block != ENTRY and self.taken[block] != [count for _, count in ways]
        }
        for place, block in enumerate(order):
            if block in open_ones:
                return place, block
        if not open_ones:
            return None
        start = min(open_ones)
        return max((i for i, block in enumerate(order, 1) if block < start), default=0), start


def _choices(flow: Flow, trips: Trips) -> dict[int, list[tuple[int, int]]]:
    """Return for each block where it leads, and how often."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for edge, count in zip(flow.edges, trips.edges, strict=True):
        if count > 0:
            found[edge.start].append((edge.end, count))
    return found


def _innermost(loops: Sequence[tuple[int, int]], block: int) -> tuple[int, int]:
    inside = [loop for loop in loops if loop[0] <= block <= loop[1]]
    return min(inside, key=lambda loop: loop[1] - loop[0], default=(0, 1 << 30))


def _due(
    ways: Sequence[tuple[int, int]], taken: Sequence[int], visit: int, loop: tuple[int, int]
) -> int | None:
    """Return the way that is due at this visit: one that leaves the loop, or the rarer one."""
    total = sum(count for _, count in ways)
    leaves = [not loop[0] <= end <= loop[1] for end, _ in ways]
    order = sorted(range(len(ways)), key=lambda k: (not leaves[k], ways[k][1]))
    open_ways = [k for k in order if taken[k] < ways[k][1]]
    for k in open_ways[:-1]:
        if visit * ways[k][1] // total > taken[k]:
            return k
    return open_ways[-1] if open_ways else None


def long_loop(
    orders: Sequence[Sequence[int]], lengths: Sequence[int], always: bool = False
) -> int | None:
    """Return the block at which a long walk repeats itself, None if every walk is short enough.

    Of the blocks that all warps pass equally often, and more often than KEPT, the rarest; of those
    that are passed about as often, as a loop's last round may end in its middle, the longest.
    ``always``: in short walks too, and from FEWEST_PASSES on a loop that takes most of the walk,
    rather than one within it."""
    longest = max(sum(lengths[b] for b in order) for order in orders)
    if not always and longest <= MOST_INSTRUCTIONS:
        return None
    counts = [Counter(order) for order in orders]
    least = FEWEST_PASSES if always else KEPT[1] + 1
    shared = [
        b for b, n in counts[0].items() if n >= least and all(other[b] == n for other in counts)
    ]
    for rarest in sorted({counts[0][b] for b in shared}):
        same_loop = [b for b in shared if rarest <= counts[0][b] < SAME_LOOP * rarest]
        best = max(same_loop, key=lambda b: (lengths[b], -b))
        even, share = _rounds(orders[0], best, lengths)
        if even and (share > MOST_OF_A_WALK or not always):
            return best
    if not always and longest <= MOST_WHOLE:
        return None
    return min(shared, key=lambda b: (counts[0][b], b), default=None)


def _rounds(order: Sequence[int], block: int, lengths: Sequence[int]) -> tuple[bool, float]:
    """Return whether it is about as far from each pass of a block to the next, which it is not in a
    loop that is entered several times, with other work between; and the share of the walk that its
    rounds take."""
    blocks = np.array(order)
    walked = np.cumsum(np.array(lengths)[blocks])
    far = np.diff(walked[blocks == block])
    usual = np.median(far)
    return bool(far.max() <= SAME_LOOP * usual), float((len(far) + 1) * usual / walked[-1])


def with_passes(order: Sequence[int], block: int, trips: int) -> list[int]:
    """Return a walk with so many passes of ``block``: the first ones, and then the end.

    Of a walk that has fewer, the stretch from one pass in its middle to the next is repeated."""
    passes = [i for i, b in enumerate(order) if b == block]
    more = trips - len(passes)
    if more <= 0:
        return [*order[: passes[trips - 1]], *order[passes[-1] :]]
    start, end = passes[len(passes) // 2 - 1 :][:2]
    return [*order[:end], *more * list(order[start:end]), *order[end:]]


def stream(flow: Flow, trips: Trips, order: Sequence[int]) -> np.ndarray:
    """Return the numbers of the instructions of a walk, int32."""
    guards: dict[int, list[str]] = defaultdict(list)
    for block, guard in trips.guarded:
        guards[block].append(guard)
    planned = Counter[int]()
    for edge, count in zip(flow.edges, trips.edges, strict=True):
        planned[edge.end] += count
    pieces, visits = [], Counter[int]()
    for block in order:
        visits[block] += 1
        off = frozenset(
            guard
            for guard in guards[block]
            if not _runs(trips.guarded[block, guard], planned[block], visits[block])
        )
        pieces.append(_piece(flow, block, off))
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int32)


def _runs(times: int, of: int, visit: int) -> bool:
    return visit * times // max(1, of) > (visit - 1) * times // max(1, of)


def _piece(flow: Flow, block: int, off: frozenset[str]) -> np.ndarray:
    numbers = np.array(flow.blocks[block], np.int32)
    if not off:
        return numbers
    skipped = np.array([flow.guards[i] in off and bool(flow.ops[i].access) for i in numbers])
    return np.where(skipped, numbers + len(flow.ops), numbers).astype(np.int32)


__all__ = ["KEPT", "Guarded", "blocks_in_turn", "long_loop", "stream", "with_passes"]
