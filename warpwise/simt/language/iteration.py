"""What a for loop runs over: range, arrays, tuples, and enumerate and zip of them.

Every loop counts trips; what it runs over says how many there are and what the target is in each. What stands after ``in`` is
evaluated once, before the first trip, and kept in a variable of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from warpwise.errors import KernelTypeError, UnsupportedError
from warpwise.simt import types
from warpwise.simt.language import advice
from warpwise.simt.language.compiled import Code, converted
from warpwise.simt.types import INT64, ArrayType, TupleType, is_integer


@dataclass(frozen=True)
class Iteration:
    """Numbers from start to stop; ``target()`` compiles ``put(frame, number, mask)``, which assigns what belongs to a number."""

    bounds: tuple[Callable, Callable, Callable]  #: start, stop, step
    target: Callable
    prepare: Callable | None = None  #: before the first trip


@dataclass(frozen=True)
class Items:
    """Something to run over: how many items, and the compiled item at the trip that the loop's hidden variable says."""

    count: Callable  #: (frame, mask) -> int or lanes
    item: Callable  #: () -> Code
    prepare: list[Callable] = field(default_factory=list)


def _zero(frame, mask) -> int:
    return 0


def _one(frame, mask) -> int:
    return 1


class Iterating:
    """The part of the compiler that knows what loops run over; mixed into ``compiler.Compiler``."""

    def iteration(self, node: ast.For) -> Iteration:
        if self._calls(node.iter, range):
            if not isinstance(node.target, ast.Name):
                self.refuse(node, "a loop counts with one name", "for i in range(n): and the rest inside")
            return Iteration(self._range(node, node.iter), lambda: self.assignment(node.target, INT64))
        trip = f"trip {node.lineno}:{node.col_offset}"
        slot = self.bind(trip, INT64)
        items = self._items(node, node.iter, trip)

        def prepare(frame, mask):
            for part in items.prepare:
                part(frame, mask)

        return Iteration((_zero, items.count, _one), lambda: self._taking(node, items, slot), prepare)

    def _calls(self, node: ast.expr, function: Callable) -> bool:
        return isinstance(node, ast.Call) and self.static(node.func) is function

    def _taking(self, node: ast.For, items: Items, slot: int) -> Callable:
        code = items.item()
        if not isinstance(node.target, (ast.Name, ast.Tuple, ast.List)):
            self.refuse(node, "a loop gives its items to names", "for value in values: and the rest inside")
        put = self.assignment(node.target, code.type)

        def put_item(frame, k, mask):
            frame.values[slot], frame.defined[slot] = k, mask  # nobody reads it in a lane that is not in this trip
            put(frame, code.run(frame, mask), mask)

        return put_item

    # --- what can be run over ---

    def _items(self, loop: ast.For, node: ast.expr, trip: str) -> Items:
        for function, compile_items in ((range, self._range_items), (enumerate, self._enumerated), (zip, self._zipped)):
            if self._calls(node, function):
                return compile_items(loop, node, trip)
        if isinstance(node, ast.Call) and self.static(node.func) is reversed:
            self.refuse(loop, "a kernel cannot run over reversed(...)", "count down: range(n - 1, -1, -1)")
        values = self._listed(node) if isinstance(node, ast.List) else self.expression(node)
        if isinstance(values.type, ArrayType):
            return self._array_items(node, values, trip)
        if isinstance(values.type, TupleType):
            return self._tuple_items(loop, node, values, trip)
        return self.refuse(loop, "a loop in a kernel runs over range(...), an array or a tuple", advice.on_loop(loop, self.env))

    def _listed(self, node: ast.List) -> Code:
        """``for v in [1, 2.5]``: as a tuple whose items have one type."""
        items = [self.expression(item) for item in node.elts]
        t = reduce(types.unify, (item.type for item in items)) if items else None
        runs = [converted(item, t).run for item in items]
        return Code(lambda f, m: tuple(run(f, m) for run in runs), TupleType((t,) * len(items)))

    def _kept(self, name: str, t, run: Callable) -> tuple[int, Callable]:
        """A hidden variable, and what gives it its value before the loop."""
        slot = self.bind(name, t)

        def keep(frame, mask):
            frame.values[slot], frame.defined[slot] = run(frame, mask), mask  # read by lanes of this mask only

        return slot, keep

    def _array_items(self, node: ast.expr, array: Code, trip: str) -> Items:
        name = f"items of {trip}: {ast.unparse(node)}"
        slot, keep = self._kept(name, array.type, array.run)
        names = (ast.copy_location(ast.Name(n, ast.Load()), node) for n in (name, trip))
        element = ast.copy_location(ast.Subscript(*names, ast.Load()), node)
        return Items(lambda frame, mask: frame.values[slot].shape[0], lambda: self.expression(element), [keep])

    def _tuple_items(self, loop: ast.For, node: ast.expr, values: Code, trip: str) -> Items:
        if not values.type.items:
            what = f"{ast.unparse(node)} is a tuple of no items, and Numba's compiler cannot make a loop of it"
            self.refuse(loop, what, "give it one value or more, or leave the loop out")
        t = values.type.items[0]
        if any(item != t for item in values.type.items):
            found = ", ".join(map(str, values.type.items))
            self.refuse(loop, f"{ast.unparse(node)} has items of several types ({found})", "items of one type, such as (1.0, 2.5)")
        slot, keep = self._kept(f"items of {trip}: {ast.unparse(node)}", values.type, values.run)
        count, at = len(values.type.items), self.slots[trip]
        code = Code(lambda frame, mask: frame.values[slot][frame.values[at]], t)
        return Items(lambda frame, mask: count, lambda: code, [keep])

    def _range_items(self, loop: ast.For, node: ast.Call, trip: str) -> Items:
        start, stop, step = self._range(loop, node)
        place, at = f"{trip}: {ast.unparse(node)}", self.slots[trip]
        first, keep_first = self._kept(f"start of {place}", INT64, start)
        by, keep_by = self._kept(f"step of {place}", INT64, step)

        def count(frame, mask):
            a, b, d = frame.values[first], plain(stop(frame, mask)), frame.values[by]
            many = -((a - b) // self.not_zero(d, mask, loop))
            return max(many, 0) if type(many) is int else np.maximum(many, 0)

        code = Code(lambda frame, mask: frame.values[first] + frame.values[at] * frame.values[by], INT64)
        return Items(count, lambda: code, [keep_first, keep_by])

    def _enumerated(self, loop: ast.For, node: ast.Call, trip: str) -> Items:
        given = [*node.args, *(k.value for k in node.keywords if k.arg == "start")]
        if not 1 <= len(given) <= 2 or len(given) != len(node.args) + len(node.keywords):
            what = f"{ast.unparse(node)}: enumerate takes what to run over, and where to start"
            self.refuse(loop, what, "enumerate(x) or enumerate(x, 1)")
        inner = self._items(loop, given[0], trip)
        first = converted(self._whole(loop, given[1]), INT64).run if len(given) == 2 else _zero
        slot, keep = self._kept(f"start of {trip}: {ast.unparse(node)}", INT64, first)
        at = self.slots[trip]

        def item() -> Code:
            code = inner.item()
            run = code.run
            return Code(lambda f, m: (f.values[slot] + f.values[at], run(f, m)), self.bounded_tuple(loop, [INT64, code.type]))

        return Items(inner.count, item, [*inner.prepare, keep])

    def _zipped(self, loop: ast.For, node: ast.Call, trip: str) -> Items:
        if not node.args or node.keywords:
            self.refuse(loop, f"{ast.unparse(node)}: zip takes what to run over", "zip(x, y)")
        parts = [self._items(loop, part, trip) for part in node.args]

        def count(frame, mask):
            return reduce(_smaller, (part.count(frame, mask) for part in parts))

        def item() -> Code:
            codes = [part.item() for part in parts]
            return Code(lambda f, m: tuple(code.run(f, m) for code in codes), self.bounded_tuple(loop, [code.type for code in codes]))

        return Items(count, item, [keep for part in parts for keep in part.prepare])

    # --- range ---

    def _range(self, loop: ast.For, call: ast.Call) -> tuple[Callable, Callable, Callable]:
        """Start, stop and step of ``range(...)``."""
        if not 1 <= len(call.args) <= 3 or call.keywords:
            self.refuse(loop, f"{ast.unparse(call)}: range takes one to three integers", "range(stop) or range(start, stop, step)")
        codes = [self.scalar(part) for part in call.args]
        for part, code in zip(call.args, codes, strict=True):
            self._need_real_end(loop, part, code)
        runs = [converted(code, INT64).run if is_integer(code.type) else _truncated(code, codes) for code in codes]
        self.cost.add("conversion", sum(not is_integer(code.type) for code in codes))
        return (_zero, runs[0], _one) if len(runs) == 1 else (*runs, _one)[:3]

    def _need_real_end(self, loop: ast.For, part: ast.expr, code: Code) -> None:
        if types.is_complex(code.type):
            raise KernelTypeError(f"range() needs integers, not {code.type}", self.kernel.where(loop), f"int({ast.unparse(part)}.real)")

    def _whole(self, loop: ast.For, part: ast.expr) -> Code:
        code = self.scalar(part)
        if not is_integer(code.type):
            what = f"enumerate() starts at an integer, not {code.type}"
            raise KernelTypeError(what, self.kernel.where(loop), advice.on_index(part, code.type))
        return code

    def not_zero(self, step, mask, loop: ast.For):
        """The step of a range. Raises UnsupportedError if it is 0 in an active thread."""
        if step == 0 if type(step) is int else (mask.grid() & (step == 0)).any():
            raise UnsupportedError("range() with step 0", self.kernel.where(loop), "a step that is not 0 in any thread")
        return step if type(step) is int else np.where(step == 0, 1, step)


def _truncated(code: Code, beside: list[Code]) -> Callable:
    """A floating-point end of a range as Numba's compiler takes it: without its fraction, in 32 bits unless another end has 64.

    A number beyond the range of the integer becomes the nearest one, NaN becomes 0: PTX ISA, "cvt". 64 bits are cut at 2**62 here.
    """
    wide = any(is_integer(other.type) and (other.type.itemsize == 8 or other.type == np.uint32) for other in beside)
    low, high = (-(2**62), 2**62) if wide else (-(2**31), 2**31 - 1)
    run = code.run

    def whole(frame, mask):
        value = np.asarray(run(frame, mask), np.float64)
        cut = np.clip(np.nan_to_num(value), low, high).astype(np.int64)
        return cut if cut.ndim else int(cut)

    return whole


def _smaller(a, b):
    return min(a, b) if type(a) is type(b) is int else np.minimum(a, b)


def plain(value):
    """A uniform integer as a Python int; an array as it is."""
    return value if isinstance(value, np.ndarray) else int(value)
