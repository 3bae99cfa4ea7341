"""Tuples in a kernel: items, slices, sums and comparisons.

A tuple whose items are all of one type can be indexed by a number that is only known while the
kernel runs; on a GPU that costs local memory, or a chain of selections."""

from __future__ import annotations

import ast

import numpy as np

from warpwise.errors import OutOfBoundsError
from warpwise.messages import Constant, Source, message
from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, constant_code, items_of
from warpwise.simt.frontend.constants import NotConstant, constant
from warpwise.simt.lanes.masks import split
from warpwise.simt.machine.frame import merged
from warpwise.simt.types import BOOL, TupleType, is_integer, is_scalar


class Tuples:
    """Mixin of ``Compiler`` for tuples."""

    def tuple_item(self, node: ast.Subscript, base: Code) -> Code:
        """Compile ``t[1]``, ``t[-1]``, ``t[1:]``, and ``t[i]`` where all items have one type."""
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
        nodes = node.slice.lower, node.slice.upper, node.slice.step
        ends = [None if end is None else self.constant(end) for end in nodes]
        part = slice(*ends)
        if not all(end is None or isinstance(end, int) for end in ends) or part.step == 0:
            what = f"{ast.unparse(node)}: the ends of a slice are integers, its step is not 0"
            self.refuse(node, what, "constants, such as t[1:]")
        run, items = base.run, base.type.items[part]
        return Code(lambda f, m: run(f, m)[part], TupleType(items))

    def _chosen_item(self, node: ast.Subscript, base: Code) -> Code:
        items, index = base.type.items, self.scalar(node.slice)
        if len(set(items)) != 1 or not is_integer(index.type):
            what = f"{ast.unparse(node)}: a tuple whose items are of different types is indexed"
            try_this = f"an index from 0 to {len(items) - 1}"
            self.refuse(node, f"{what} by a constant within its length", try_this)
        run, at, site, count = base.run, index.run, self.site(node), len(items)
        self.cost.add("integer", count)

        def item(frame, mask):
            values, i = run(frame, mask), at(frame, mask)
            bad = mask.grid() & ((np.asarray(i) < -count) | (np.asarray(i) >= count))
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

    def tuple_sum(self, node: ast.AST, left: Code, right: Code) -> Code:
        """Compile ``a + b`` of tuples: one after the other."""
        t = self.bounded_tuple(node, (*left.type.items, *right.type.items))
        a, b = left.run, right.run
        return Code(lambda f, m: a(f, m) + b(f, m), t)

    def tuple_comparison(self, node: ast.Compare, left: Code, right: Code, op: ast.cmpop) -> Code:
        """Compile ``a == b`` and ``a != b`` of tuples of numbers."""
        pairs = list(zip(items_of(left), items_of(right), strict=False))
        negate = isinstance(op, ast.NotEq)
        are_numbers = all(is_scalar(a.type) and is_scalar(b.type) for a, b in pairs)
        if not are_numbers or not isinstance(op, (ast.Eq, ast.NotEq)):
            what = "tuples of numbers are compared by == and !="
            raise types.TypeMismatch(what, "compare their items one by one")
        if len(left.type.items) != len(right.type.items):
            return constant_code(negate)
        runs = [self.comparison(node, a, b, ast.Eq()).run for a, b in pairs]

        def run(frame, mask):
            result = True
            for equal in runs:
                result = result & equal(frame, mask)
            return _not(result) if negate else result

        return Code(run, BOOL)

    def contained(self, node: ast.Compare, value: Code, among: Code, negate: bool) -> Code:
        """Compile ``x in (1, 2, 3)``."""
        items = items_of(among) if isinstance(among.type, TupleType) else None
        if items is None or not all(is_scalar(code.type) for code in (value, *items)):
            what = "in looks for a number in a tuple of numbers"
            raise types.TypeMismatch(what, "compare in a loop over the elements")
        runs = [self.comparison(node, value, item, ast.Eq()).run for item in items]

        def run(frame, mask):
            result = False
            for equal in runs:
                result = result | equal(frame, mask)
            return _not(result) if negate else result

        return Code(run, BOOL)


def _not(value):
    return not value if isinstance(value, bool) else ~value
