"""For loops over ranges, arrays and tuples, and over enumerate and zip of them.

Every loop counts trips; the iterable gives their number, and the target's value in each. The
expression after ``in`` is evaluated once, before the first trip, and kept in a hidden variable."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import Code, converted, joined
from warpwise.simt.types import INT64, ArrayType, TupleType, is_integer


@dataclass(frozen=True)
class Iteration:
    """Numbers from start to stop; ``target()`` compiles ``put(frame, number, mask)``.

    ``put`` assigns the loop's target for a number."""

    bounds: tuple[Callable, Callable, Callable]  #: start, stop, step
    target: Callable
    prepare: Callable | None = None  #: before the first trip


@dataclass(frozen=True)
class Items:
    """The number of items, and the compiled item of the trip in the loop's hidden variable."""

    count: Callable  #: (frame, mask) -> int or lanes
    item: Callable  #: () -> Code
    prepare: list[Callable] = field(default_factory=list)


def _zero(frame, mask) -> int:
    return 0


def _one(frame, mask) -> int:
    return 1


class Iterating:
    """Mixin of ``Compiler`` for what loops run over."""

    def iteration(self, node: ast.For) -> Iteration:
        if self._calls(node.iter, range):
            if not isinstance(node.target, ast.Name):
                try_this = "for i in range(n): and the rest inside"
                self.refuse(node, "a loop counts with one name", try_this)
            bounds = self._range(node, node.iter)
            return Iteration(bounds, lambda: self.assignment(node.target, INT64))
        trip = f"trip {node.lineno}:{node.col_offset}"
        slot = self.bind(trip, INT64)
        items = self._items(node, node.iter, trip)

        def prepare(frame, mask):
            for part in items.prepare:
                part(frame, mask)

        bounds = _zero, items.count, _one
        return Iteration(bounds, lambda: self._item_target(node, items, slot), prepare)

    def _calls(self, node: ast.expr, function: Callable) -> bool:
        return isinstance(node, ast.Call) and self.static(node.func) is function

    def _item_target(self, node: ast.For, items: Items, slot: int) -> Callable:
        code = items.item()
        if not isinstance(node.target, (ast.Name, ast.Tuple, ast.List)):
            try_this = "for value in values: and the rest inside"
            self.refuse(node, "a loop gives its items to names", try_this)
        put = self.assignment(node.target, code.type)

        def put_item(frame, k, mask):
            # only lanes in this trip read it
            frame.values[slot], frame.defined[slot] = k, mask
            put(frame, code.run(frame, mask), mask)

        return put_item

    # --- iterables ---

    def _items(self, loop: ast.For, node: ast.expr, trip: str) -> Items:
        functions = {range: self._range_items, enumerate: self._enumerated, zip: self._zipped}
        for function, compile_items in functions.items():
            if self._calls(node, function):
                return compile_items(loop, node, trip)
        if self._calls(node, reversed):
            try_this = "count down: range(n - 1, -1, -1)"
            self.refuse(loop, "a kernel cannot run over reversed(...)", try_this)
        values = self._listed(node) if isinstance(node, ast.List) else self.expression(node)
        if isinstance(values.type, ArrayType):
            return self._array_items(node, values, trip)
        if isinstance(values.type, TupleType):
            return self._tuple_items(loop, node, values, trip)
        what = "a loop in a kernel runs over range(...), an array or a tuple"
        return self.refuse(loop, what, advice.on_loop(loop, self.env))

    def _listed(self, node: ast.List) -> Code:
        """Compile the list of ``for v in [1, 2.5]`` as a tuple whose items have one type."""
        items = [self.expression(item) for item in node.elts]
        t = reduce(types.unify, (item.type for item in items)) if items else None
        return joined([converted(item, t) for item in items], TupleType((t,) * len(items)))

    def _kept(self, name: str, t, run: Callable) -> tuple[int, Callable]:
        """Make a hidden variable; return its slot, and the closure that sets it before the loop."""
        slot = self.bind(name, t)

        def keep(frame, mask):
            # only lanes of this mask read it
            frame.values[slot], frame.defined[slot] = run(frame, mask), mask

        return slot, keep

    def _array_items(self, node: ast.expr, array: Code, trip: str) -> Items:
        name = f"items of {trip}: {ast.unparse(node)}"
        slot, keep = self._kept(name, array.type, array.run)
        names = (ast.copy_location(ast.Name(n, ast.Load()), node) for n in (name, trip))
        element = ast.copy_location(ast.Subscript(*names, ast.Load()), node)

        def count(frame, mask):
            return frame.values[slot].shape[0]

        return Items(count, lambda: self.expression(element), [keep])

    def _tuple_items(self, loop: ast.For, node: ast.expr, values: Code, trip: str) -> Items:
        text, items = ast.unparse(node), values.type.items
        if not items:
            what = f"{text} is a tuple of no items, and Numba's compiler cannot make a loop of it"
            self.refuse(loop, what, "give it one value or more, or leave the loop out")
        t = items[0]
        if any(item != t for item in items):
            what = f"{text} has items of several types ({', '.join(map(str, items))})"
            self.refuse(loop, what, "items of one type, such as (1.0, 2.5)")
        slot, keep = self._kept(f"items of {trip}: {text}", values.type, values.run)
        count, at = len(items), self.slots[trip]
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

        code = Code(lambda f, m: f.values[first] + f.values[at] * f.values[by], INT64)
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
            number = Code(lambda f, m: f.values[slot] + f.values[at], INT64)
            return joined([number, code], self.bounded_tuple(loop, [INT64, code.type]))

        return Items(inner.count, item, [*inner.prepare, keep])

    def _zipped(self, loop: ast.For, node: ast.Call, trip: str) -> Items:
        if not node.args or node.keywords:
            self.refuse(loop, f"{ast.unparse(node)}: zip takes what to run over", "zip(x, y)")
        parts = [self._items(loop, part, trip) for part in node.args]

        def count(frame, mask):
            return reduce(_smaller, (part.count(frame, mask) for part in parts))

        def item() -> Code:
            codes = [part.item() for part in parts]
            return joined(codes, self.bounded_tuple(loop, [code.type for code in codes]))

        return Items(count, item, [keep for part in parts for keep in part.prepare])

    # --- range ---

    def _range(self, loop: ast.For, call: ast.Call) -> tuple[Callable, Callable, Callable]:
        """Compile start, stop and step of ``range(...)``."""
        if not 1 <= len(call.args) <= 3 or call.keywords:
            what = f"{ast.unparse(call)}: range takes one to three integers"
            self.refuse(loop, what, "range(stop) or range(start, stop, step)")
        codes = [self.scalar(part) for part in call.args]
        for part, code in zip(call.args, codes, strict=True):
            self._need_real_end(loop, part, code)
        runs = [
            converted(code, INT64).run if is_integer(code.type) else _truncated(code, codes)
            for code in codes
        ]
        self.cost.add("conversion", sum(not is_integer(code.type) for code in codes))
        return (_zero, runs[0], _one) if len(runs) == 1 else (*runs, _one)[:3]

    def _need_real_end(self, loop: ast.For, part: ast.expr, code: Code) -> None:
        if types.is_complex(code.type):
            what = f"range() needs integers, not {code.type}"
            self.refuse(loop, what, f"int({ast.unparse(part)}.real)", KernelTypeError)

    def _whole(self, loop: ast.For, part: ast.expr) -> Code:
        code = self.scalar(part)
        if not is_integer(code.type):
            what = f"enumerate() starts at an integer, not {code.type}"
            self.refuse(loop, what, advice.on_index(part, code.type), KernelTypeError)
        return code

    def not_zero(self, step, mask, loop: ast.For):
        """Return the step of a range. Raises UnsupportedError if it is 0 in an active thread."""
        is_int = type(step) is int
        if step == 0 if is_int else (mask.grid() & (step == 0)).any():
            self.refuse(loop, "range() with step 0", "a step that is not 0 in any thread")
        return step if is_int else np.where(step == 0, 1, step)


def _truncated(code: Code, beside: list[Code]) -> Callable:
    """Truncate a floating-point end of a range as Numba's compiler does.

    It has 32 bits unless another end has 64. A number beyond the range of the integer becomes the
    nearest one, NaN becomes 0: PTX ISA, "cvt". 64 bits are cut at 2**62 here."""
    wide = any(
        is_integer(other.type) and (other.type.itemsize == 8 or other.type == np.uint32)
        for other in beside
    )
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
    """Return a uniform integer as a Python int, and an array unchanged."""
    return value if isinstance(value, np.ndarray) else int(value)
