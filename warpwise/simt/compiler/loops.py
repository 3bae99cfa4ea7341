"""Loops of a kernel: lanes leave one by one and meet again behind it.

The types of variables at its top hold for every trip."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import TypeVar

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler.closures import Charge, Cost, Put, Run, Step, charging, truth
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.iteration import iteration, not_zero, plain
from warpwise.simt.compiler.ragged import count_test, in_ragged_warps
from warpwise.simt.compiler.variables import Env, Loop
from warpwise.simt.compiler.waiting import loop_waits
from warpwise.simt.frontend.assigned import is_forever
from warpwise.simt.frontend.endless import never_ends
from warpwise.simt.lanes.masks import Mask, join, split
from warpwise.simt.machine.compaction import Narrowing
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import Value

Head = TypeVar("Head")


def _looped(
    c: Context, node: ast.For | ast.While, begin: Callable[[], Head]
) -> tuple[Loop, Head, Step]:
    """Compile a loop until the types at its top no longer change, and then its ``else``.

    ``begin`` compiles its head."""
    variables, notes = c.variables, c.notes.copy()
    loop, barriers, grid_syncs = Loop(c.loop_count), c.counts.barriers, c.counts.grid_syncs
    c.loop_count += 1
    top = dict(variables.env)
    carried = _read_before_written(node) | variables.unsure_in(node)
    guessed = carried & variables.assigned - set(top)
    for name in guessed:
        c.bind(name, types.BOOL)  # unifies with any number: the body gives the type
        top[name] = types.BOOL
    returned = len(c.results.found)
    while True:
        del c.results.found[returned:]
        loop.ends, loop.again = [], []
        c.notes = notes.copy()
        variables.here = dict(top)
        head = begin()
        entered = dict(variables.env)
        c.loops.append(loop)
        outer, c.forgiven = c.forgiven, []
        body = c.body(node.body)
        errors, c.forgiven = c.forgiven, outer
        c.loops.pop()
        back: Env = {name: t for name, t in top.items() if name not in guessed}
        for env in [variables.here, *loop.again]:
            back = variables.joined(node, back, env) or back
        if not guessed and all(top[name] == t for name, t in back.items() if name in top):
            if errors:
                raise errors[0]
            break
        top = {name: back[name] for name in top if name in back}
        guessed = set()
    if isinstance(node, ast.For):
        variables.here = variables.joined(node, back, entered)
    else:
        variables.here = None if is_forever(node) else back
    loop.orelse = c.body(node.orelse) if node.orelse else None
    for env in loop.ends:
        variables.here = variables.joined(node, variables.here, env)
    loop.by_block = c.counts.barriers > barriers
    loop.by_grid = c.counts.grid_syncs > grid_syncs
    return loop, head, body


def while_(c: Context, node: ast.While) -> Step:
    def begin() -> tuple[Run, Charge]:
        c.cost, c.looping = Cost(), _asked(node.test)
        test = truth(c.scalar(node.test))
        c.cost.add("control")
        return test.run, c.charge(node)

    loop, (condition, charge), body = _looped(c, node, begin)
    number, line, waits = loop.number, node.lineno, loop_waits(c, node)
    site = replace(c.site(node), endless=never_ends(node))

    def do(frame: Frame, mask: Mask) -> Mask | None:
        active: Mask | None = mask
        done: Mask | None = None
        few, trips = Narrowing(frame, loop), count()
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


def _asked(test: ast.expr) -> ast.expr:
    """Return a condition without its ``not``."""
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def for_(c: Context, node: ast.For) -> Step:
    over = iteration(c, node)
    (start, stop, step), bounds, kernel = over.bounds, c.charge(node), c.kernel

    def begin() -> tuple[Put, Charge]:
        c.cost = Cost({"control": 1})
        put = over.target()
        return put, charging(node.lineno, c.cost)

    loop, (put, each), body = _looped(c, node, begin)
    number, line, site = loop.number, node.lineno, c.site(node)

    def uniform(frame: Frame, mask: Mask, numbers: range) -> Mask | None:
        active, batch, few = mask, frame.batch, Narrowing(frame, loop)
        for trip, k in enumerate(numbers):
            if few.wanted(active):
                (active,) = few.narrow(active, None)
            batch.step(site, active, trip=trip)
            each(frame, active)
            put(frame, k, active)
            on = _trip(frame, number, body, active)
            if on is None:
                return _after_loop(frame, loop, few.widen(None))
            active = on
        return _after_loop(frame, loop, few.widen(active))

    def varying(frame: Frame, mask: Mask, k: Value, end: Value, by: Value) -> Mask | None:
        active: Mask | None = mask
        done: Mask | None = None
        few, trips = Narrowing(frame, loop), count()
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

    def do(frame: Frame, mask: Mask) -> Mask | None:
        bounds(frame, mask)
        if over.prepare is not None:
            over.prepare(frame, mask)
        first, end, by = (plain(part(frame, mask)) for part in (start, stop, step))
        by = not_zero(kernel, by, mask, node)
        if type(first) is type(end) is type(by) is int:
            return uniform(frame, mask, range(first, end, by))
        return varying(frame, mask, first, end, by)

    return do


def break_(c: Context, node: ast.Break) -> Step:
    number, variables = c.loops[-1].number, c.variables
    c.loops[-1].ends.append(variables.here)
    variables.here = None

    def do(frame: Frame, mask: Mask) -> None:
        frame.broken[number] = join(frame.broken[number], mask)

    return do


def continue_(c: Context, node: ast.Continue) -> Step:
    number, variables = c.loops[-1].number, c.variables
    c.loops[-1].again.append(variables.here)
    variables.here = None

    def do(frame: Frame, mask: Mask) -> None:
        frame.continued[number] = join(frame.continued[number], mask)

    return do


def _trip(frame: Frame, number: int, body: Step, mask: Mask) -> Mask | None:
    """Run a loop's body once; lanes that met ``continue`` come back."""
    after = join(body(frame, mask), frame.continued[number])
    frame.continued[number] = None
    return after


def _before(k: Value, end: Value, by: Value) -> Value:
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
