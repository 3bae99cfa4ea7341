"""A kernel's machine code, and the walks of its warps that the trace's counts explain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warpwise.stopwatch.evidence import Channel, Counts, Warps, lines_of, warps_of
from warpwise.stopwatch.flow import Flow, flow_of
from warpwise.stopwatch.sass import Op, unknown
from warpwise.stopwatch.trips import Trips, trips_of, work_of
from warpwise.stopwatch.walk import KEPT, blocks_in_turn, long_loop, stream, with_passes
from warpwise.traces import Trace

LITTLE = 0.1  #: share of a warp's work of one kind, up to which a line's is no matter


@dataclass(frozen=True)
class Program:
    """Machine code, the trace's line of each instruction, and the walks of a block's warps.

    ``registers`` per thread; ``shared_bytes`` of a block, static and dynamic."""

    flow: Flow
    lines: tuple[int, ...]
    warps: tuple[Warps, ...]
    trips: tuple[Trips, ...]  #: of each kind of warps
    registers: int
    shared_bytes: int
    longer: float = (
        1.0  #: trips of the longest loop in the launch in question, over the traced ones
    )

    @property
    def ops(self) -> tuple[Op, ...]:
        return self.flow.ops

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of opcodes that the tables do not have."""
        return unknown(self.ops)

    @property
    def kinds_of_warps(self) -> np.ndarray:
        """The kind of each warp of a block, by its number."""
        count = sum(len(kind.numbers) for kind in self.warps)
        kinds = np.zeros(count, np.int64)
        for number, kind in enumerate(self.warps):
            kinds[list(kind.numbers)] = number
        return kinds

    @property
    def repeats(self) -> bool:
        """True if a warp goes round a loop, whose trips the counts decide."""
        ways = [
            edge.back and count > 0
            for trips in self.trips
            for edge, count in zip(self.flow.edges, trips.edges, strict=True)
        ]
        return any(ways)

    @cached_property
    def _missed(self) -> dict[Channel, float]:
        """The shares of lines' work that the walks do not explain, where it is much of its kind."""
        found: dict[Channel, float] = {}
        for own, warps in zip(self.trips, self.warps, strict=True):
            every = _by_kind(warps.counts)
            for channel, share in own.missed.items():
                much = share * warps.counts.get(channel, 0.0) > LITTLE * every[channel[1]]
                found[channel] = max(found.get(channel, 0.0), share if much else 0.0)
        return found

    @property
    def missed(self) -> float:
        """The largest share of a line's work that the walks do not explain."""
        return max(self._missed.values(), default=0.0)

    @property
    def missed_on(self) -> int:
        """The line of the trace that this is said of, 0 if all is explained."""
        (line, _) = max(self._missed, key=self._missed.__getitem__, default=(0, ""))
        return line

    @cached_property
    def orders(self) -> tuple[list[int], ...]:
        return tuple(blocks_in_turn(self.flow, trips) for trips in self.trips)

    @cached_property
    def loop(self) -> int | None:
        """The block at which long walks repeat themselves, None if they are short."""
        lengths = [len(block) for block in self.flow.blocks]
        return long_loop(self.orders, lengths, always=self.longer > 1)

    @property
    def passes(self) -> int:
        """How often a warp passes ``loop``."""
        if self.loop is None:
            return 0
        return round(self.longer * self.orders[0].count(self.loop))

    def streams(self, trips: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return the instructions of each kind of warp as rows, and their lengths.

        With ``trips``, of walks that pass the loop so often."""
        rows = [
            stream(self.flow, own, self._order(order, trips))
            for own, order in zip(self.trips, self.orders, strict=True)
        ]
        lengths = np.array([len(row) for row in rows], np.int64)
        table = np.zeros((len(rows), int(lengths.max(initial=1))), np.int32)
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        return table, lengths

    def _order(self, order: list[int], trips: int) -> list[int]:
        if self.loop is None or not trips:
            return order
        return with_passes(order, self.loop, trips)

    @cached_property
    def executions(self) -> np.ndarray:
        """How often a block's warps together run each instruction; the second half: without its
        access, as in ``tables``."""
        warps = np.array([len(kind.numbers) for kind in self.warps])
        found: np.ndarray = warps @ self.counts
        return found

    @cached_property
    def counts(self) -> np.ndarray:
        """How often a warp of each kind runs each instruction."""
        rows = []
        for own, order in zip(self.trips, self.orders, strict=True):
            if self.loop is None:
                walk = stream(self.flow, own, order)
                rows.append(np.bincount(walk, minlength=2 * len(self.ops)).astype(float))
            else:
                rows.append(self._extrapolated(own, order))
        return np.array(rows)

    def _extrapolated(self, own: Trips, order: list[int]) -> np.ndarray:
        short, longer = (
            np.bincount(stream(self.flow, own, self._order(order, n)), minlength=2 * len(self.ops))
            for n in KEPT
        )
        per_trip = (longer - short) / (KEPT[1] - KEPT[0])
        found: np.ndarray = short + per_trip * (self.passes - KEPT[0])
        return found


def _by_kind(counts: Counts) -> dict[str, float]:
    """Return a warp's work of each kind, on all lines."""
    found: dict[str, float] = defaultdict(float)
    for (_, kind), amount in counts.items():
        found[kind] += amount
    return found


def program_of(
    trace: Trace,
    ops: Sequence[Op],
    registers: int,
    shared_bytes: int,
    rename: Mapping[int, int] | None = None,
    longer: float = 1.0,
) -> Program:
    """Put a trace's counts and machine code together. ``rename``: see ``evidence.lines_of``."""
    flow, lines = flow_of(ops), lines_of(trace, ops, rename)
    warps, work = warps_of(trace), work_of(flow, lines)
    trips = tuple(trips_of(flow, work, kind.counts, kind.between) for kind in warps)
    return Program(flow, tuple(lines), warps, trips, registers, shared_bytes, longer)
