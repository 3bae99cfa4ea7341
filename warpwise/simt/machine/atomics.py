"""Atomic operations on global and shared memory: new values there, and each lane's old value.

A GPU lets the lanes of one statement take their turns in any order. Here the order is fixed: by
block, then by thread, so that results are the same from run to run, those of floating-point sums
included; where warps wait for one another, each statement of a warp comes when that warp has its
turn (``scheduler``). All lanes that name one cell form a *queue*; queues are worked off together,
without a Python loop over lanes. What this leaves out: the order of a real machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.memory import Array, read_only
from warpwise.simt.types import DType, Lanes, Value, as_array

_FAR = 1 << 62  # sums below it do not wrap


@dataclass(frozen=True)
class Turns:
    """The active lanes in queues, one for each cell of memory.

    ``cells``: the place in memory of each lane, in the lanes' order, ``(lanes,)``."""

    cells: Lanes

    @cached_property
    def order(self) -> Lanes:
        """The lanes, queue by queue; in a queue by their turn."""
        keys = self.cells - self.cells.min()
        if keys.max() < 1 << 16:
            keys = keys.astype(np.uint16)  # which NumPy sorts by radix
        return np.argsort(keys, kind="stable")

    @cached_property
    def starts(self) -> Lanes:
        """The place in ``order`` at which each queue begins."""
        queued = self.cells[self.order]
        return np.flatnonzero(np.concatenate([[True], queued[1:] != queued[:-1]]))

    @cached_property
    def lengths(self) -> Lanes:
        return np.diff(self.starts, append=self.cells.size)

    @cached_property
    def queue(self) -> Lanes:
        """The queue of each place in ``order``."""
        return np.repeat(np.arange(self.starts.size, dtype=np.intp), self.lengths)

    @cached_property
    def turn(self) -> Lanes:
        """The turn of each place in ``order``, from 0."""
        return np.arange(self.cells.size, dtype=np.intp) - self.starts[self.queue]

    @cached_property
    def firsts(self) -> Lanes:
        """The cell of each queue."""
        return self.cells[self.order[self.starts]]

    def queued(self, values: Lanes) -> Lanes:
        """Return values of the lanes, queue by queue."""
        return values[self.order]

    def back(self, values: Lanes) -> Lanes:
        """Return values of queues in the lanes' order, the reverse of ``queued``."""
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def by_length(self) -> Iterator[tuple[Lanes, int]]:
        """Yield queues of similar length: their numbers, and the greatest length.

        Padded to that length, they have at most twice as many places as lanes in all."""
        size = np.frexp(self.lengths - 0.5)[1]
        for power in np.unique(size):
            queues = np.flatnonzero(size == power)
            yield queues, int(self.lengths[queues].max())


def running(ufunc: np.ufunc, memory: Lanes, turns: Turns, values: Lanes) -> Lanes:
    """Do ``memory[cell] = ufunc(memory[cell], value)`` in turn; return the old values."""
    queued, before = turns.queued(values), np.empty(values.size, memory.dtype)
    for queues, longest in turns.by_length():
        at = turns.starts[queues, None] + np.arange(longest, dtype=np.intp)
        there = np.arange(longest, dtype=np.intp) < turns.lengths[queues, None]
        operands = queued[np.minimum(at, queued.size - 1)]
        steps = np.concatenate([memory[turns.firsts[queues], None], operands], axis=1)
        steps = ufunc.accumulate(steps, axis=1)
        before[at[there]] = steps[:, :-1][there]
        memory[turns.firsts[queues]] = steps[
            np.arange(queues.size, dtype=np.intp), turns.lengths[queues]
        ]
    return turns.back(before)


def exchanged(memory: Lanes, turns: Turns, values: Lanes) -> Lanes:
    """Do ``exch``: each lane gets the value that the one before it in the queue has left."""
    queued = turns.queued(values)
    before = np.concatenate([queued[:1], queued[:-1]])
    before[turns.starts] = memory[turns.firsts]
    memory[turns.cells] = values  # of several the last one stays
    return turns.back(before)


def wrapped(kind: str, memory: Lanes, turns: Turns, limits: Lanes) -> Lanes:
    """Do ``inc``, up to the limit and back to 0, or ``dec``, down to 0 and back to the limit.

    ``dec`` goes to the limit also from above it."""
    limit = int(limits[0])
    if limit >= _FAR or (limits != limits[0]).any():
        return one_by_one(_NEXT[kind], memory, turns, limits)
    size = np.uint64(limit + 1)
    first, turn = memory[turns.firsts][turns.queue].astype(np.uint64), turns.turn.astype(np.uint64)

    def after(steps: Lanes) -> Lanes:
        """Return the cell after so many steps; the first from above the limit is to 0, or to it."""
        within, past = first < size, steps - np.uint64(1)
        if kind == "inc":
            above = np.where(steps > 0, past % size, first)
            return np.where(within, (first + steps) % size, above)
        above = np.where(steps > 0, np.uint64(limit) - past % size, first)
        return np.where(within, (first + size - steps % size) % size, above)

    before, left = (after(steps).astype(memory.dtype) for steps in (turn, turn + np.uint64(1)))
    memory[turns.firsts] = left[turns.starts + turns.lengths - 1]
    return turns.back(before)


def _incremented(old: Lanes, limit: Lanes) -> Lanes:
    return np.where(old >= limit, 0, old + np.ones_like(old))


def _decremented(old: Lanes, limit: Lanes) -> Lanes:
    return np.where((old == 0) | (old > limit), limit, old - np.ones_like(old))


_NEXT = {"inc": _incremented, "dec": _decremented}


def one_by_one(
    new: Callable[[Lanes, Lanes], Lanes], memory: Lanes, turns: Turns, values: Lanes
) -> Lanes:
    """Do ``memory[cell] = new(memory[cell], value)`` turn by turn for all queues together.

    As many rounds as the longest queue has lanes."""
    before = np.empty(values.size, memory.dtype)
    rounds = np.argsort(turns.turn, kind="stable")
    ends = np.cumsum(np.bincount(turns.turn))
    for some in np.split(turns.order[rounds], ends[:-1]):
        before[some] = memory[turns.cells[some]]
        memory[turns.cells[some]] = new(before[some], values[some])
    return before


def compared(memory: Lanes, turns: Turns, old: Lanes, values: Lanes) -> Lanes:
    """Do ``cas``, in as many rounds as the most lanes of a queue that change their cell."""
    old, values, queue = turns.queued(old), turns.queued(values), turns.queue
    state, place = memory[turns.firsts], np.arange(queue.size, dtype=np.intp)
    before, pending = state[queue], old != values  # a lane that would change nothing is done
    while True:
        hits = np.flatnonzero(pending & (before == old))
        if not hits.size:
            break
        # the first of each queue
        hits = hits[np.concatenate([[True], queue[hits[1:]] != queue[hits[:-1]]])]
        state[queue[hits]] = values[hits]
        last = np.full(state.size, queue.size, np.intp)
        last[queue[hits]] = hits
        after = place > last[queue]
        before = np.where(after, state[queue], before)
        pending &= after
    memory[turns.firsts] = state
    return turns.back(before)


_UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
    "nanmin": np.fmin,
    "nanmax": np.fmax,
}


def carry_out(
    kind: str, memory: Lanes, cells: Lanes, operands: list[Lanes], wanted: bool
) -> Lanes | None:
    """Do an atomic operation of lanes in their order; return the old values if ``wanted``.

    All arrays are flat, of one length."""
    turns, ufunc = Turns(cells), _UFUNCS.get(kind)
    if ufunc is not None:
        (values,) = operands
        # a NaN changes nothing, and a NaN in memory stays
        if kind in ("min", "max") and memory.dtype.kind == "f":
            neutral = np.inf if kind == "min" else -np.inf
            values = np.where(np.isnan(values), neutral, values).astype(memory.dtype)
        if wanted:
            return running(ufunc, memory, turns, values)
        ufunc.at(memory, cells, values)
        return None
    if kind == "exch":
        return exchanged(memory, turns, *operands)
    if kind == "cas":
        return compared(memory, turns, *operands)
    return wrapped(kind, memory, turns, *operands)


def memory_of(array: Array, addresses: Value, mask: Mask) -> tuple[Lanes, Lanes]:
    """Return the memory of an array as its elements, and the active lanes' places there."""
    root, width = array.root, array.dtype.itemsize
    at = root.positions(addresses - root.address, mask.group)
    memory = root.raw[: root.raw.size // width * width].view(array.dtype)
    if not memory.flags.writeable:
        raise read_only(root)
    at = np.broadcast_to(as_array(at), mask.group.shape)
    return memory, (at.ravel() if mask.lanes is None else at[mask.grid()]) // width


def of_lanes(value: Value, mask: Mask, dtype: DType) -> Lanes:
    """Return a value of the kernel as the active lanes have it, ``(lanes,)``."""
    lanes: Lanes = np.broadcast_to(np.asarray(value, dtype), mask.group.shape)
    return lanes.ravel() if mask.lanes is None else lanes[mask.grid()]


def to_lanes(values: Lanes, mask: Mask) -> Lanes:
    """Return values of the active lanes in lane shape; inactive lanes hold 0."""
    if mask.lanes is None:
        return values.reshape(mask.group.shape)
    out = np.zeros(mask.group.shape, values.dtype)
    out[mask.grid()] = values
    return out
