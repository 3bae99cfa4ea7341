"""Tuples in a kernel: items, slices, sums and comparisons.

A tuple whose items are all of one type can be indexed by a number that is only known while the
kernel runs; on a GPU that costs local memory, or a chain of selections."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from warpwise.errors import OutOfBoundsError
from warpwise.messages import Constant, Source, message
from warpwise.simt import types
from warpwise.simt.compiler.arguments import only_numbers
from warpwise.simt.compiler.arithmetic import comparison
from warpwise.simt.compiler.closures import Code, Number, Run, constant_number, items_of, joined
from warpwise.simt.compiler.context import Context
from warpwise.simt.frontend.constants import MAX_ITEMS, NotConstant
from warpwise.simt.frontend.kernel import Node
from warpwise.simt.lanes.masks import Mask, split
from warpwise.simt.machine.frame import Frame, merged
from warpwise.simt.types import BOOL, TupleType, Type, Value, as_array, is_integer


def tuple_(c: Context, node: ast.Tuple) -> Code:
    items = [c.expression(item) for item in node.elts]
    return joined(items, bounded_tuple(c, node, [item.type for item in items]))


def bounded_tuple(c: Context, node: Node, items: Iterable[Type]) -> TupleType:
    """Return the type of a tuple, and refuse one that is too large.

    Calls and loops could double its values without end."""
    t = TupleType(tuple(items))
    if t.size > MAX_ITEMS:
        what = f"a tuple of {t.size:,} values; {MAX_ITEMS:,} is the most here"
        c.refuse(node, what, "use an array, such as cuda.local.array")
    return t


def tuple_item(c: Context, node: ast.Subscript, base: Code, t: TupleType) -> Code:
    """Compile ``t[1]``, ``t[-1]``, ``t[1:]``, and ``t[i]`` where all items have one type."""
    if isinstance(node.slice, ast.Slice):
        return _part(c, node.slice, node, base, t)
    try:
        index = c.names.outer_constant(node.slice)
    except NotConstant:
        return _chosen_item(c, node, base, t)
    if not isinstance(index, int) or not -len(t.items) <= index < len(t.items):
        what = f"{ast.unparse(node)}: a tuple is indexed by a constant within its length"
        c.refuse(node, what, f"an index from 0 to {len(t.items) - 1}")
    run, place = base.run, index
    return Code(lambda f, m: run(f, m)[place], t.items[place])


def _part(c: Context, ends: ast.Slice, node: ast.Subscript, base: Code, t: TupleType) -> Code:
    nodes = ends.lower, ends.upper, ends.step
    given = [None if end is None else c.constant(end) for end in nodes]
    found = [end for end in given if end is None or isinstance(end, int)]
    if len(found) < len(given) or found[2] == 0:
        what = f"{ast.unparse(node)}: the ends of a slice are integers, its step is not 0"
        c.refuse(node, what, "constants, such as t[1:]")
    run, part = base.run, slice(*found)
    return Code(lambda f, m: run(f, m)[part], TupleType(t.items[part]))


def _chosen_item(c: Context, node: ast.Subscript, base: Code, t: TupleType) -> Code:
    items, index = t.items, c.scalar(node.slice)
    if len(set(items)) != 1 or not is_integer(index.type):
        what = f"{ast.unparse(node)}: a tuple whose items are of different types is indexed"
        try_this = f"an index from 0 to {len(items) - 1}"
        c.refuse(node, f"{what} by a constant within its length", try_this)
    run, at, site, count = base.run, index.run, c.site(node), len(items)
    c.cost.add("integer", count)

    def item(frame: Frame, mask: Mask) -> Value:
        values, i = run(frame, mask), at(frame, mask)
        bad = mask.grid() & ((as_array(i) < -count) | (as_array(i) >= count))
        if bad.any():
            what = message(
                "{text}: the tuple has {count} items, and the index is outside",
                text=Source(ast.unparse(node)),
                count=Constant(count),
            )
            try_this = message("an index from 0 to {last}", last=Constant(count - 1))
            raise OutOfBoundsError(what, site.where(**mask.group.first_of(bad)), try_this)
        if not isinstance(i, np.ndarray):
            return values[int(i)]
        found = values[0]
        for k in range(1, count):
            here, others = split(mask, np.remainder(i, count) == k)
            if here is not None:
                found = values[k] if others is None else merged(here, values[k], found, site)
        return found

    return Code(item, items[0])


def tuple_sum(c: Context, node: Node, left: Code, right: Code, items: Iterable[Type]) -> Code:
    """Compile ``a + b`` of tuples, one after the other, with these types of items."""
    a, b = left.run, right.run
    return Code(lambda f, m: a(f, m) + b(f, m), bounded_tuple(c, node, items))


def tuple_comparison(c: Context, left: list[Code], right: list[Code], op: ast.cmpop) -> Number:
    """Compile ``a == b`` and ``a != b`` of the items of tuples of numbers."""
    negate, shorter = isinstance(op, ast.NotEq), min(len(left), len(right))
    a, b = only_numbers(left[:shorter]), only_numbers(right[:shorter])
    if a is None or b is None or not isinstance(op, (ast.Eq, ast.NotEq)):
        what = "tuples of numbers are compared by == and !="
        raise types.TypeMismatch(what, "compare their items one by one")
    if len(left) != len(right):
        return constant_number(negate, BOOL)
    pairs = zip(a, b, strict=True)
    runs = [comparison(c, one, other, ast.Eq()).run for one, other in pairs]

    def run(frame: Frame, mask: Mask) -> Value:
        result = True
        for equal in runs:
            result = result & equal(frame, mask)
        return _not(result) if negate else result

    return Number(run, BOOL)


def contained(c: Context, value: Number, among: Code, negate: bool) -> Number:
    """Compile ``x in (1, 2, 3)``."""
    t = among.type
    items = only_numbers(items_of(among.run, t)) if isinstance(t, TupleType) else None
    if items is None:
        what = "in looks for a number in a tuple of numbers"
        raise types.TypeMismatch(what, "compare in a loop over the elements")
    runs: list[Run] = [comparison(c, value, item, ast.Eq()).run for item in items]

    def run(frame: Frame, mask: Mask) -> Value:
        result = False
        for equal in runs:
            result = result | equal(frame, mask)
        return _not(result) if negate else result

    return Number(run, BOOL)


def _not(value: Value) -> Value:
    return not value if isinstance(value, bool) else ~value
