"""For loops over ranges, arrays and tuples, and over enumerate and zip of them.

Every loop counts trips; the iterable gives their number, and the target's value in each. The
expression after ``in`` is evaluated once, before the first trip, and kept in a hidden variable."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from warpwise.errors import KernelTypeError
from warpwise.simt import types
from warpwise.simt.compiler import advice
from warpwise.simt.compiler.closures import (
    Charge,
    Code,
    Items,
    Number,
    Put,
    Run,
    converted,
    items_of,
    joined,
)
from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.known_names import refuse
from warpwise.simt.compiler.stores import assignment
from warpwise.simt.compiler.tuples import bounded_tuple
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import INT64, ArrayType, TupleType, Type, Value, is_integer


@dataclass(frozen=True)
class Iteration:
    """Numbers from start to stop; ``target()`` compiles what assigns one to the loop's target."""

    bounds: tuple[Run, Run, Run]  #: start, stop, step
    target: Callable[[], Put]
    prepare: Charge | None = None  #: before the first trip


def _zero(frame: Frame, mask: Mask) -> int:
    return 0


def _one(frame: Frame, mask: Mask) -> int:
    return 1


def iteration(c: Context, node: ast.For) -> Iteration:
    if isinstance(node.iter, ast.Call) and c.static(node.iter.func) is range:
        if not isinstance(node.target, ast.Name):
            try_this = "for i in range(n): and the rest inside"
            c.refuse(node, "a loop counts with one name", try_this)
        return Iteration(_range(c, node, node.iter), lambda: assignment(c, node.target, INT64))
    trip = f"trip {node.lineno}:{node.col_offset}"
    slot = c.bind(trip, INT64)
    items = _items(c, node, node.iter, trip)

    def prepare(frame: Frame, mask: Mask) -> None:
        for part in items.prepare:
            part(frame, mask)

    bounds = _zero, items.count, _one
    return Iteration(bounds, lambda: _item_target(c, node, items, slot), prepare)


def _item_target(c: Context, node: ast.For, items: Items, slot: int) -> Put:
    code = items.item()
    if not isinstance(node.target, (ast.Name, ast.Tuple, ast.List)):
        try_this = "for value in values: and the rest inside"
        c.refuse(node, "a loop gives its items to names", try_this)
    put = assignment(c, node.target, code.type)

    def put_item(frame: Frame, k: Value, mask: Mask) -> None:
        # only lanes in this trip read it
        frame.values[slot], frame.defined[slot] = k, mask
        put(frame, code.run(frame, mask), mask)

    return put_item


# --- iterables ---


def _items(c: Context, loop: ast.For, node: ast.expr, trip: str) -> Items:
    if isinstance(node, ast.Call):
        function = c.static(node.func)
        for known, compile_items in c.language.iterables.items():
            if known is function:
                return compile_items(c, loop, node, trip)
        if function is reversed:
            try_this = "count down: range(n - 1, -1, -1)"
            c.refuse(loop, "a kernel cannot run over reversed(...)", try_this)
    values = _listed(c, node) if isinstance(node, ast.List) else c.expression(node)
    if isinstance(values.type, ArrayType):
        return _array_items(c, node, values, trip)
    if isinstance(values.type, TupleType):
        return _tuple_items(c, loop, node, values.run, values.type, trip)
    what = "a loop in a kernel runs over range(...), an array or a tuple"
    c.refuse(loop, what, advice.on_loop(loop, c.variables.env))


def _listed(c: Context, node: ast.List) -> Code:
    """Compile the list of ``for v in [1, 2.5]`` as a tuple whose items have one type."""
    items = [c.expression(item) for item in node.elts]
    if not items:
        return joined([], TupleType(()))
    t = reduce(types.unify, [item.type for item in items])
    return joined([converted(item, t) for item in items], TupleType((t,) * len(items)))


def _kept(c: Context, name: str, t: Type, run: Run) -> tuple[int, Charge]:
    """Make a hidden variable; return its slot, and the closure that sets it before the loop."""
    slot = c.bind(name, t)

    def keep(frame: Frame, mask: Mask) -> None:
        # only lanes of this mask read it
        frame.values[slot], frame.defined[slot] = run(frame, mask), mask

    return slot, keep


def _array_items(c: Context, node: ast.expr, array: Code, trip: str) -> Items:
    name = f"items of {trip}: {ast.unparse(node)}"
    slot, keep = _kept(c, name, array.type, array.run)
    items, at = (ast.copy_location(ast.Name(n, ast.Load()), node) for n in (name, trip))
    element = ast.copy_location(ast.Subscript(items, at, ast.Load()), node)

    def count(frame: Frame, mask: Mask) -> Value:
        return frame.values[slot].shape[0]

    return Items(count, lambda: c.expression(element), [keep])


def _tuple_items(
    c: Context, loop: ast.For, node: ast.expr, values: Run, whole: TupleType, trip: str
) -> Items:
    text, items = ast.unparse(node), whole.items
    if not items:
        what = f"{text} is a tuple of no items, and Numba's compiler cannot make a loop of it"
        c.refuse(loop, what, "give it one value or more, or leave the loop out")
    t = items[0]
    if any(item != t for item in items):
        what = f"{text} has items of several types ({', '.join(map(str, items))})"
        c.refuse(loop, what, "items of one type, such as (1.0, 2.5)")
    slot, keep = _kept(c, f"items of {trip}: {text}", whole, values)
    count, at = len(items), c.variables.slots[trip]
    code = Code(lambda frame, mask: frame.values[slot][frame.values[at]], t)
    return Items(lambda frame, mask: count, lambda: code, [keep])


def range_items(c: Context, loop: ast.For, node: ast.Call, trip: str) -> Items:
    start, stop, step = _range(c, loop, node)
    kernel = c.kernel
    place, at = f"{trip}: {ast.unparse(node)}", c.variables.slots[trip]
    first, keep_first = _kept(c, f"start of {place}", INT64, start)
    by, keep_by = _kept(c, f"step of {place}", INT64, step)

    def count(frame: Frame, mask: Mask) -> Value:
        a, b, d = frame.values[first], plain(stop(frame, mask)), frame.values[by]
        many = -((a - b) // not_zero(kernel, d, mask, loop))
        return max(many, 0) if type(many) is int else np.maximum(many, 0)

    code = Number(lambda f, m: f.values[first] + f.values[at] * f.values[by], INT64)
    return Items(count, lambda: code, [keep_first, keep_by])


def enumerated(c: Context, loop: ast.For, node: ast.Call, trip: str) -> Items:
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "start")]
    if not 1 <= len(given) <= 2 or len(given) != len(node.args) + len(node.keywords):
        what = f"{ast.unparse(node)}: enumerate takes what to run over, and where to start"
        c.refuse(loop, what, "enumerate(x) or enumerate(x, 1)")
    inner = _items(c, loop, given[0], trip)
    first = converted(_whole(c, loop, given[1]), INT64).run if len(given) == 2 else _zero
    slot, keep = _kept(c, f"start of {trip}: {ast.unparse(node)}", INT64, first)
    at = c.variables.slots[trip]

    def item() -> Code:
        code = inner.item()
        number = Number(lambda f, m: f.values[slot] + f.values[at], INT64)
        return joined([number, code], bounded_tuple(c, loop, [INT64, code.type]))

    return Items(inner.count, item, [*inner.prepare, keep])


def zipped(c: Context, loop: ast.For, node: ast.Call, trip: str) -> Items:
    if not node.args or node.keywords:
        c.refuse(loop, f"{ast.unparse(node)}: zip takes what to run over", "zip(x, y)")
    parts = [_items(c, loop, part, trip) for part in node.args]

    def count(frame: Frame, mask: Mask) -> Value:
        return reduce(_smaller, (part.count(frame, mask) for part in parts))

    def item() -> Code:
        codes = [part.item() for part in parts]
        return joined(codes, bounded_tuple(c, loop, [code.type for code in codes]))

    return Items(count, item, [keep for part in parts for keep in part.prepare])


def indices_items(c: Context, loop: ast.For, node: ast.Call, trip: str) -> Items:
    """Compile ``for i, j in np.ndindex(3, 4)`` and ``np.ndindex(x.shape)``."""
    codes = [c.expression(part) for part in node.args]
    if len(codes) == 1 and isinstance(codes[0].type, TupleType):
        codes = items_of(codes[0].run, codes[0].type)
    if not codes or node.keywords or not all(is_integer(code.type) for code in codes):
        what = f"{ast.unparse(node)}: np.ndindex takes integers, or a tuple of them"
        c.refuse(loop, what, "np.ndindex(3, 4) or np.ndindex(x.shape)")
    at, place = c.variables.slots[trip], f"{trip}: {ast.unparse(node)}"
    kept = [
        _kept(c, f"size {axis} of {place}", INT64, converted(code, INT64).run)
        for axis, code in enumerate(codes)
    ]
    slots = [slot for slot, _ in kept]

    def count(frame: Frame, mask: Mask) -> Value:
        return reduce(operator.mul, (_at_least(frame.values[slot], 0) for slot in slots))

    def index(axis: int) -> Run:
        def run(frame: Frame, mask: Mask) -> Value:
            k = frame.values[at]
            for slot in reversed(slots[axis + 1 :]):
                k = k // _at_least(frame.values[slot], 1)
            return k % _at_least(frame.values[slots[axis]], 1)

        return run

    places: list[Code] = [Number(index(axis), INT64) for axis in range(len(codes))]
    code = joined(places, TupleType((INT64,) * len(codes)))
    return Items(count, lambda: code, [keep for _, keep in kept])


def _at_least(value: Value, low: int) -> Value:
    return max(value, low) if type(value) is int else np.maximum(value, low)


# --- range ---


def _range(c: Context, loop: ast.For, call: ast.Call) -> tuple[Run, Run, Run]:
    """Compile start, stop and step of ``range(...)``."""
    if not 1 <= len(call.args) <= 3 or call.keywords:
        what = f"{ast.unparse(call)}: range takes one to three integers"
        c.refuse(loop, what, "range(stop) or range(start, stop, step)")
    codes = [c.scalar(part) for part in call.args]
    for part, code in zip(call.args, codes, strict=True):
        _need_real_end(c, loop, part, code)
    runs = [
        converted(code, INT64).run if is_integer(code.type) else _truncated(code, codes)
        for code in codes
    ]
    c.cost.add("conversion", sum(not is_integer(code.type) for code in codes))
    if len(runs) == 1:
        return _zero, runs[0], _one
    return runs[0], runs[1], runs[2] if len(runs) == 3 else _one


def _need_real_end(c: Context, loop: ast.For, part: ast.expr, code: Number) -> None:
    if types.is_complex(code.type):
        what = f"range() needs integers, not {code.type}"
        c.refuse(loop, what, f"int({ast.unparse(part)}.real)", KernelTypeError)


def _whole(c: Context, loop: ast.For, part: ast.expr) -> Number:
    code = c.scalar(part)
    if not is_integer(code.type):
        what = f"enumerate() starts at an integer, not {code.type}"
        c.refuse(loop, what, advice.on_index(part, code.type), KernelTypeError)
    return code


def not_zero(kernel: Kernel, step: Value, mask: Mask, loop: ast.For) -> Value:
    """Return the step of a range. Raises UnsupportedError if it is 0 in an active thread."""
    is_int = type(step) is int
    if step == 0 if is_int else (mask.grid() & (step == 0)).any():
        refuse(kernel, loop, "range() with step 0", "a step that is not 0 in any thread")
    return step if is_int else np.where(step == 0, 1, step)


def _truncated(code: Number, beside: list[Number]) -> Run:
    """Truncate a floating-point end of a range as Numba's compiler does.

    It has 32 bits unless another end has 64. A number beyond the range of the integer becomes the
    nearest one, NaN becomes 0: PTX ISA, "cvt". 64 bits are cut at 2**62 here."""
    wide = any(
        is_integer(other.type) and (other.type.itemsize == 8 or other.type == np.uint32)
        for other in beside
    )
    low, high = (-(2**62), 2**62) if wide else (-(2**31), 2**31 - 1)
    run = code.run

    def whole(frame: Frame, mask: Mask) -> Value:
        value = np.asarray(run(frame, mask), np.float64)
        cut = np.clip(np.nan_to_num(value), low, high).astype(np.int64)
        return cut if cut.ndim else int(cut)

    return whole


def _smaller(a: Value, b: Value) -> Value:
    return min(a, b) if type(a) is type(b) is int else np.minimum(a, b)


def plain(value: Value) -> Value:
    """Return a uniform integer as a Python int, and an array unchanged."""
    return value if isinstance(value, np.ndarray) else int(value)
