"""Tuples in a kernel: items, slices, sums and comparisons.

A tuple whose items are all of one type can be indexed by a number that is only known while the kernel runs; on a GPU that costs local
memory, or a chain of selections.
"""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import OutOfBoundsError
from warpwise.simt import types
from warpwise.simt.lanes.masks import split
from warpwise.simt.language.compiled import Code, constant_code, converted
from warpwise.simt.machine.frame import merged
from warpwise.simt.text.constants import MAX_ITEMS, NotConstant, constant
from warpwise.simt.types import BOOL, TupleType, is_integer, is_scalar


class Tuples:
    """The part of the compiler that knows tuples; mixed into ``compiler.Compiler``."""

    def tuple_item(self, node: ast.Subscript, base: Code) -> Code:
        """``t[1]``, ``t[-1]``, ``t[1:]``, and ``t[i]`` where all items are of one type."""
        if isinstance(node.slice, ast.Slice):
            return self._tuple_part(node, base)
        items = base.type.items
        try:
            index = constant(node.slice, self._outside_constant)
        except NotConstant:
            return self._chosen_item(node, base)
        if not isinstance(index, int) or not -len(items) <= index < len(items):
            what = f"{ast.unparse(node)}: a tuple is indexed by a constant within its length"
            self.refuse(node, what, f"an index from 0 to {len(items) - 1}")
        run = base.run
        return Code(lambda f, m: run(f, m)[index], items[index])

    def _outside_constant(self, name: str):
        if name in self.assigned:
            raise KeyError(name)
        return self.kernel.lookup(name)

    def _tuple_part(self, node: ast.Subscript, base: Code) -> Code:
        ends = (node.slice.lower, node.slice.upper, node.slice.step)
        part = slice(*(None if end is None else self.constant(end) for end in ends))
        if not all(end is None or (isinstance(end, int) and end != 0) or end == 0 for end in (part.start, part.stop)) or part.step == 0:
            self.refuse(node, f"{ast.unparse(node)}: the ends of a slice are integers, its step is not 0", "constants, such as t[1:]")
        run, items = base.run, base.type.items[part]
        return Code(lambda f, m: run(f, m)[part], TupleType(items))

    def _chosen_item(self, node: ast.Subscript, base: Code) -> Code:
        items, index = base.type.items, self.scalar(node.slice)
        if len(set(items)) != 1 or not is_integer(index.type):
            what = f"{ast.unparse(node)}: a tuple whose items are of different types is indexed by a constant within its length"
            self.refuse(node, what, f"an index from 0 to {len(items) - 1}")
        run, at, site, count = base.run, index.run, self.site(node), len(items)
        self.cost.add("integer", count)

        def item(frame, mask):
            values, i = run(frame, mask), at(frame, mask)
            bad = mask.grid() & ((np.asarray(i) < -count) | (np.asarray(i) >= count))
            if bad.any():
                what = f"{ast.unparse(node)}: the tuple has {count} items, and the index is outside"
                raise OutOfBoundsError(what, site.where(**mask.extent.first_of(bad)), f"an index from 0 to {count - 1}")
            if not isinstance(i, np.ndarray):
                return values[int(i)]
            found = values[0]
            for k in range(1, count):
                here, others = split(mask, np.remainder(i, count) == k)
                if here is not None:
                    found = values[k] if others is None else merged(here, values[k], found, site)
            return found

        return Code(item, items[0])

    def tuple_sum(self, node: ast.AST, left: Code, right: Code) -> Code:
        """``a + b`` of tuples: one after the other."""
        t = TupleType((*left.type.items, *right.type.items))
        if t.size > MAX_ITEMS:
            self.refuse(node, f"a tuple of {t.size:,} values; {MAX_ITEMS:,} is the most here", "use an array, such as cuda.local.array")
        a, b = left.run, right.run
        return Code(lambda f, m: a(f, m) + b(f, m), t)

    def tuple_comparison(self, node: ast.Compare, left: Code, right: Code, op: ast.cmpop) -> Code:
        """``a == b`` and ``a != b`` of tuples of numbers."""
        kinds = zip(left.type.items, right.type.items, strict=False)
        if type(op) not in (ast.Eq, ast.NotEq) or not all(is_scalar(a) and is_scalar(b) for a, b in kinds):
            raise types.TypeMismatch("tuples of numbers are compared by == and !=", "compare their items one by one")
        if len(left.type.items) != len(right.type.items):
            return constant_code(isinstance(op, ast.NotEq))
        pairs = [self._pair(node, left, right, i) for i in range(len(left.type.items))]
        negate = isinstance(op, ast.NotEq)

        def run(frame, mask):
            result = True
            for pair in pairs:
                result = result & pair(frame, mask)
            return (not result if isinstance(result, bool) else ~result) if negate else result

        return Code(run, BOOL)

    def _pair(self, node: ast.Compare, left: Code, right: Code, i: int):
        a, b = (Code(lambda f, m, run=side.run: run(f, m)[i], side.type.items[i]) for side in (left, right))
        return self.comparison(node, a, b, ast.Eq()).run

    def contained(self, node: ast.Compare, value: Code, among: Code, negate: bool) -> Code:
        """``x in (1, 2, 3)``."""
        if not isinstance(among.type, TupleType) or not all(is_scalar(t) for t in (value.type, *among.type.items)):
            raise types.TypeMismatch("in looks for a number in a tuple of numbers", "compare in a loop over the elements")
        run = among.run
        items = [Code(lambda f, m, i=i: run(f, m)[i], t) for i, t in enumerate(among.type.items)]
        pairs = [self.comparison(node, value, item, ast.Eq()).run for item in items]

        def found(frame, mask):
            result = False
            for pair in pairs:
                result = result | pair(frame, mask)
            return (not result if isinstance(result, bool) else ~result) if negate else result

        return converted(Code(found, BOOL), BOOL)
