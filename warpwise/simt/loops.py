"""Loops of a kernel. Lanes leave one by one and meet again after it; types at its top are those of every trip."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpwise.errors import KernelTypeError, UnsupportedError
from warpwise.simt import advice, types
from warpwise.simt.assigned import is_forever
from warpwise.simt.compaction import Narrowing
from warpwise.simt.compiled import Cost, charging, converted, truth
from warpwise.simt.frame import Frame
from warpwise.simt.masks import Mask, join, split
from warpwise.simt.types import INT64, is_integer


@dataclass
class Loop:
    """A loop being compiled: its number, and the types where break and continue leave it."""

    number: int
    by_block: bool = False  #: a barrier is in it, so that blocks must stay whole
    ends: list | None = None
    again: list | None = None


class Loops:
    """The part of the compiler that knows loops; mixed into ``compiler.Compiler``."""

    def _looped(self, node: ast.For | ast.While, begin: Callable) -> tuple[Loop, object, Callable]:
        """Compile a loop's head (``begin``) and body until the types at its top no longer change."""
        if node.orelse:
            self.refuse(node, "else after a loop has no meaning in a kernel here", "set a flag before break, and test it after the loop")
        loop, barriers = Loop(self.loop_count), self.barriers
        self.loop_count += 1
        top = dict(self.env)
        for name in _read_before_written(node) & self.assigned - set(top):
            self.bind(name, types.BOOL)  # joins with any number: the body gives the type
            top[name] = types.BOOL
        while True:
            loop.ends, loop.again = [], []
            self.env = dict(top)
            head = begin()
            entered = dict(self.env)
            self.loops.append(loop)
            body = self.body(node.body)
            self.loops.pop()
            back = top
            for env in [self.env, *loop.again]:
                back = self._joined(node, back, env)
            if back == top or all(top.get(name) == t for name, t in back.items() if name in top):
                break
            top = {name: back[name] for name in top}
        if isinstance(node, ast.For):
            self.env = self._joined(node, back, entered)
        else:
            self.env = None if is_forever(node) else back
        for env in loop.ends:
            self.env = self._joined(node, self.env, env)
        loop.by_block = self.barriers > barriers
        return loop, head, body

    def _do_While(self, node: ast.While) -> Callable:
        def begin():
            self.cost = Cost()
            test = truth(self.scalar(node.test))
            self.cost.add("control")
            return test.run, self._charge(node)

        loop, (condition, charge), body = self._looped(node, begin)
        number, by_block, line, site = loop.number, loop.by_block, node.lineno, self.site(node)

        def do(frame, mask):
            active, done, few = mask, None, Narrowing(frame, by_block)
            while active is not None:
                if few.wanted(active):
                    (active,) = few.narrow(active, done)
                    done = None
                frame.batch.step(site, active)
                charge(frame, active)
                go, left = split(active, condition(frame, active))
                frame.batch.branch(line, active, go, left)
                done = join(done, left)
                active = None if go is None else _trip(frame, number, body, go)
            return _after_loop(frame, number, few.widen(done))

        return do

    def _do_For(self, node: ast.For) -> Callable:
        start, stop, step = self._range(node)
        bounds = self._charge(node)

        def begin():
            self.cost = Cost()
            return self.assignment(node.target, INT64)

        if not isinstance(node.target, ast.Name):
            self.refuse(node, "a loop counts with one name", "for i in range(n): and the rest inside")
        loop, put, body = self._looped(node, begin)
        number, by_block, line, site = loop.number, loop.by_block, node.lineno, self.site(node)
        each = charging(line, Cost({"control": 1}))

        def uniform(frame, mask, numbers):
            active, batch, few = mask, frame.batch, Narrowing(frame, by_block)
            for k in numbers:
                if few.wanted(active):
                    (active,) = few.narrow(active, None)
                batch.step(site, active)
                each(frame, active)
                put(frame, k, active)
                active = _trip(frame, number, body, active)
                if active is None:
                    break
            return _after_loop(frame, number, few.widen(active))

        def varying(frame, mask, k, end, by):
            active, done, few = mask, None, Narrowing(frame, by_block)
            while active is not None:
                if few.wanted(active):
                    active, k, end, by = few.narrow(active, done, k, end, by)
                    done = None
                frame.batch.step(site, active)
                each(frame, active)
                go, left = split(active, np.where(np.asarray(by) > 0, k < end, k > end))
                frame.batch.branch(line, active, go, left)
                done = join(done, left)
                if go is None:
                    break
                put(frame, k, go)
                active = _trip(frame, number, body, go)
                k = k + by
            return _after_loop(frame, number, few.widen(done))

        def do(frame, mask):
            bounds(frame, mask)
            first, end, by = (_plain(part(frame, mask)) for part in (start, stop, step))
            if by == 0 if type(by) is int else (mask.grid() & (by == 0)).any():
                raise UnsupportedError("range() with step 0", site.where(), "a step that is not 0 in any thread")
            if type(first) is type(end) is type(by) is int:
                return uniform(frame, mask, range(first, end, by))
            return varying(frame, mask, first, end, by)

        return do

    def _range(self, node: ast.For) -> list[Callable]:
        call = node.iter
        if not (isinstance(call, ast.Call) and self.static(call.func) is range and 1 <= len(call.args) <= 3 and not call.keywords):
            self.refuse(node, "a loop in a kernel runs over range(...)", advice.on_loop(node, self.env))
        codes = [self.scalar(a) for a in call.args]
        for code, part in zip(codes, call.args, strict=True):
            if not is_integer(code.type):
                what = f"range() needs integers, not {code.type}"
                raise KernelTypeError(what, self.kernel.where(node), advice.on_index(part, code.type))
        runs = [converted(c, INT64).run for c in codes]
        zero, one = (lambda frame, mask: 0), (lambda frame, mask: 1)
        return [zero, runs[0], one] if len(runs) == 1 else [*runs, one][:3]

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
    """One pass over a loop's body; lanes that met ``continue`` come back."""
    after = join(body(frame, mask), frame.continued[number])
    frame.continued[number] = None
    return after


def _after_loop(frame: Frame, number: int, mask: Mask | None) -> Mask | None:
    after = join(mask, frame.broken[number])
    frame.broken[number] = None
    return after


def _plain(value):
    """A uniform integer as a Python int; an array as it is."""
    return value if isinstance(value, np.ndarray) else int(value)


def _read_before_written(loop: ast.For | ast.While) -> set[str]:
    """Names that a loop's body writes, and reads at an earlier place in the text: a value carried from one trip to the next."""
    first: dict[tuple[str, bool], tuple[int, int]] = {}
    for node in (n for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Name)):
        key, place = (node.id, isinstance(node.ctx, ast.Store)), (node.lineno, node.col_offset)
        first[key] = min(first.get(key, place), place)
    return {name for name, stored in first if stored and first.get((name, False), (1 << 30, 0)) < first[name, True]}
