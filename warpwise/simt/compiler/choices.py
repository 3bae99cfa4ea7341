"""Values that a condition chooses: ``a or b`` of numbers, and conditions known before the launch.

``x is None`` is known from the type of ``x``, and a comparison of text from the text. Only the
branch that is taken is compiled, so that a device function can have optional parameters, as in
Numba."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

import numpy as np

from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, constant_code, converted
from warpwise.simt.lanes.masks import split
from warpwise.simt.machine.frame import merged
from warpwise.simt.types import NONE


class Choices:
    """Mixin of ``Compiler`` for values that a condition chooses."""

    def known(self, test: ast.expr) -> bool | None:
        """Evaluate a condition that is known before the launch; None for any other."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = self.known(operand)
                return None if value is None else not value
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                return self._is_none(test)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
                a, b = self.text_constant(left), self.text_constant(right)
                return None if a is None or b is None else (a == b) == isinstance(op, ast.Eq)
        return None

    def _is_none(self, node: ast.Compare) -> bool:
        sides = node.left, node.comparators[0]
        none = [isinstance(side, ast.Constant) and side.value is None for side in sides]
        value = sides[none[0]] if any(none) else None
        if value is None or not isinstance(value, (ast.Name, ast.Constant)):
            what = f"{ast.unparse(node)!r}: a kernel compares numbers with ==, !=, <, <=, > and >="
            try_this = "compare with == instead of is; only a name can be tested with is None"
            self.refuse(node, what, try_this)
        outer, self.cost = self.cost, type(self.cost)()
        is_none = self.expression(value).type == NONE
        self.cost = outer
        return is_none == isinstance(node.ops[0], ast.Is)

    def identity(self, node: ast.Compare) -> Code:
        """Compile ``x is None`` as a value."""
        if len(node.ops) != 1:
            what = f"{ast.unparse(node)!r}: is cannot be chained in a kernel"
            self.refuse(node, what, "x is None, on its own")
        return constant_code(self.known(node))

    def chosen_value(self, parts: list[tuple[Code, Callable]], is_or: bool) -> Code:
        """Compile ``a or b`` and ``a and b`` of numbers: the one that decides.

        The type is one that holds all parts; each part comes with the closure that counts it."""
        t = reduce(types.unify, (code.type for code, _ in parts))
        runs = [(converted(code, t).run, charge) for code, charge in parts]

        def run(frame, mask):
            result, rest, value = None, mask, None
            for part, charge in runs:
                if result is not None:
                    yes, no = split(rest, _truth(value))
                    rest = no if is_or else yes
                    if rest is None:
                        break
                charge(frame, rest)
                value = part(frame, rest)
                result = value if rest is mask else merged(rest, value, result, None)
            return result

        return Code(run, t)


def _truth(value):
    return value != 0 if isinstance(value, np.ndarray) else bool(value)
