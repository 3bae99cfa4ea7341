"""Loops of a kernel: lanes leave one by one and meet again behind it.

The types of variables at its top hold for every trip."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler.closures import Cost, charging, truth
from warpwise.simt.compiler.iteration import Iterating, plain
from warpwise.simt.compiler.ragged import count_test, in_ragged_warps
from warpwise.simt.frontend.assigned import is_forever
from warpwise.simt.lanes.masks import Mask, join, split
from warpwise.simt.machine.compaction import Narrowing
from warpwise.simt.machine.frame import Frame


@dataclass
class Loop:
    """A loop being compiled, and the types where break and continue leave it."""

    number: int
    by_block: bool = False  #: it has a barrier, so that blocks must stay whole
    by_grid: bool = False  #: it has a sync of the grid, so that all blocks must stay
    ends: list | None = None
    again: list | None = None
    orelse: Callable | None = None  #: for lanes that did not leave by break


class Loops(Iterating):
    """Mixin of ``Compiler`` for loops."""

    def _looped(self, node: ast.For | ast.While, begin: Callable) -> tuple[Loop, object, Callable]:
        """Compile a loop until the types at its top no longer change, and then its ``else``.

        ``begin`` compiles its head."""
        notes = self.notes.copy()
        loop, barriers, grid_syncs = Loop(self.loop_count), self.barriers, self.grid_syncs
        self.loop_count += 1
        top = dict(self.env)
        for name in _read_before_written(node) & self.assigned - set(top):
            self.bind(name, types.BOOL)  # unifies with any number: the body gives the type
            top[name] = types.BOOL
        while True:
            loop.ends, loop.again = [], []
            self.notes = notes.copy()
            self.env = dict(top)
            head = begin()
            entered = dict(self.env)
            self.loops.append(loop)
            body = self.body(node.body)
            self.loops.pop()
            back = top
            for env in [self.env, *loop.again]:
                back = self._joined(node, back, env)
            if all(top[name] == t for name, t in back.items() if name in top):
                break
            top = {name: back[name] for name in top}
        if isinstance(node, ast.For):
            self.env = self._joined(node, back, entered)
        else:
            self.env = None if is_forever(node) else back
        loop.orelse = self.body(node.orelse) if node.orelse else None
        for env in loop.ends:
            self.env = self._joined(node, self.env, env)
        loop.by_block, loop.by_grid = self.barriers > barriers, self.grid_syncs > grid_syncs
        return loop, head, body

    def _do_While(self, node: ast.While) -> Callable:
        def begin():
            self.cost = Cost()
            test = truth(self.scalar(node.test))
            self.cost.add("control")
            return test.run, self._charge(node)

        loop, (condition, charge), body = self._looped(node, begin)
        number, line, site, waits = loop.number, node.lineno, self.site(node), self.loop_waits(node)

        def do(frame, mask):
            active, done, few, trips = mask, None, Narrowing(frame, loop), count()
            while active is not None:
                if few.wanted(active):
                    (active,) = few.narrow(active, done)
                    done = None
                trip = next(trips)
                frame.batch.step(site, active, waits is not None, trip)
                if waits is not None:
                    frame.batch.wait(site, active, frame.values, waits, trip)
                charge(frame, active)
                go, left = split(active, condition(frame, active))
                frame.batch.branch(line, active, go, left)
                done = join(done, left)
                active = None if go is None else _trip(frame, number, body, go)
            return _after_loop(frame, loop, few.widen(done))

        return do

    def _do_For(self, node: ast.For) -> Callable:
        over = self.iteration(node)
        (start, stop, step), bounds = over.bounds, self._charge(node)

        def begin():
            self.cost = Cost({"control": 1})
            put = over.target()
            return put, charging(node.lineno, self.cost)

        loop, (put, each), body = self._looped(node, begin)
        number, line, site = loop.number, node.lineno, self.site(node)

        def uniform(frame, mask, numbers):
            active, batch, few = mask, frame.batch, Narrowing(frame, loop)
            for trip, k in enumerate(numbers):
                if few.wanted(active):
                    (active,) = few.narrow(active, None)
                batch.step(site, active, trip=trip)
                each(frame, active)
                put(frame, k, active)
                active = _trip(frame, number, body, active)
                if active is None:
                    break
            return _after_loop(frame, loop, few.widen(active))

        def varying(frame, mask, k, end, by):
            active, done, few, trips = mask, None, Narrowing(frame, loop), count()
            ragged = in_ragged_warps(mask, k, end, by)
            while active is not None:
                if few.wanted(active):
                    active, k, end, by, ragged = few.narrow(active, done, k, end, by, ragged)
                    done = None
                frame.batch.step(site, active, trip=next(trips))
                go, left = split(active, _before(k, end, by))
                count_test(frame, each, line, go, left, ragged)
                done = join(done, left)
                if go is None:
                    break
                put(frame, k, go)
                active = _trip(frame, number, body, go)
                k = k + by
            return _after_loop(frame, loop, few.widen(done))

        def do(frame, mask):
            bounds(frame, mask)
            if over.prepare is not None:
                over.prepare(frame, mask)
            first, end, by = (plain(part(frame, mask)) for part in (start, stop, step))
            by = self.not_zero(by, mask, node)
            if type(first) is type(end) is type(by) is int:
                return uniform(frame, mask, range(first, end, by))
            return varying(frame, mask, first, end, by)

        return do

    def _do_Break(self, node: ast.Break) -> Callable:
        self.loops[-1].ends.append(self.env)
        number, self.env = self.loops[-1].number, None

        def do(frame, mask):
            frame.broken[number] = join(frame.broken[number], mask)

        return do

    def _do_Continue(self, node: ast.Continue) -> Callable:
        self.loops[-1].again.append(self.env)
        number, self.env = self.loops[-1].number, None

        def do(frame, mask):
            frame.continued[number] = join(frame.continued[number], mask)

        return do


def _trip(frame: Frame, number: int, body: Callable, mask: Mask) -> Mask | None:
    """Run a loop's body once; lanes that met ``continue`` come back."""
    after = join(body(frame, mask), frame.continued[number])
    frame.continued[number] = None
    return after


def _before(k, end, by):
    """True where a counter has not reached its end; each may be an integer or lanes."""
    if type(by) is int:
        return k < end if by > 0 else k > end
    return np.where(by > 0, k < end, k > end)


def _after_loop(frame: Frame, loop: Loop, mask: Mask | None) -> Mask | None:
    if mask is not None and loop.orelse is not None:
        mask = loop.orelse(frame, mask)
    after = join(mask, frame.broken[loop.number])
    frame.broken[loop.number] = None
    return after


def _read_before_written(loop: ast.For | ast.While) -> set[str]:
    """Return the names whose values a loop carries from one trip to the next.

    Its body reads them at an earlier place in the text than it writes them."""
    read: dict[str, tuple[int, int]] = {}
    written: dict[str, tuple[int, int]] = {}
    nodes = (n for statement in loop.body for n in ast.walk(statement))
    for node in (n for n in nodes if isinstance(n, ast.Name)):
        first, place = written if isinstance(node.ctx, ast.Store) else read, _place(node)
        first[node.id] = min(first.get(node.id, place), place)
    return {name for name, place in written.items() if name in read and read[name] < place}


def _place(node: ast.Name) -> tuple[int, int]:
    return node.lineno, node.col_offset
