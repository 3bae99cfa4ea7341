"""Notes on a kernel's types: float64 arithmetic among float32 numbers, which Numba's rules bring in silently.

They are taken while a kernel is compiled, as only the compiler knows the types, and one for each line. A GPU computes float64 at
a half to a 64th of its float32 rate. Comparisons are left out: with a constant that float32 holds exactly they cost nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

import numpy as np

from warpwise.simt.language.compiled import Code
from warpwise.simt.types import FLOAT32, FLOAT64, ArrayType, is_float, is_integer, is_scalar
from warpwise.trace import Note


def about_float64(arguments: Iterable[object]) -> bool:
    """Whether the notes concern a kernel with these argument types: it has float32 arrays and none of float64."""
    elements = {t.dtype for t in arguments if isinstance(t, ArrayType)}
    return FLOAT32 in elements and FLOAT64 not in elements


class Notes:
    """The notes of one function while it is compiled, by place. ``element``: how the kernel's text can name float32."""

    def __init__(self, kernel, element: str, found: Mapping | None = None):
        self.kernel, self.element, self.found = kernel, element, dict(found or {})

    def copy(self) -> Notes:
        return Notes(self.kernel, self.element, self.found)

    def merge(self, notes: Iterable[Note]) -> None:
        """The notes of a device function that is called."""
        for note in notes:
            self.found.setdefault((note.line, note.text), note)

    def all(self) -> tuple[Note, ...]:
        return tuple(sorted(self.found.values(), key=lambda note: note.line))

    def on_operation(self, node: ast.AST, symbol: str, left: Code, right: Code, result) -> None:
        """``left symbol right`` gives float64: say so if one side is float32, or if integers are divided."""
        if result != FLOAT64:
            return
        sides = {ast.BinOp: ("left", "right"), ast.AugAssign: ("target", "value")}.get(type(node), ())
        sides = [getattr(node, side) for side in sides]
        kinds = left.type, right.type
        if len(sides) == 2 and FLOAT32 in kinds:
            other = kinds.index(FLOAT32) ^ 1
            what = f"{_short(node)}: {kinds[0]} {symbol} {kinds[1]} is computed in float64"
            self._add(node, what, self._remedy(node, sides[other], kinds[other]))
        elif len(sides) == 2 and symbol == "/" and all(map(is_integer, kinds)):
            converted = " / ".join(f"{self.element}({ast.unparse(side)})" for side in sides)
            self._add(node, f"{_short(node)}: integers are divided in float64", f"{converted}, or // for a whole number")

    def on_function(self, node: ast.Call, arguments: list[Code]) -> None:
        """A function gives float64: say so if that comes from integers, or from a float64 beside a float32."""
        kinds = [a.type for a in arguments]
        if not all(map(is_scalar, kinds)) or (FLOAT64 in kinds and FLOAT32 not in kinds):
            return
        wrong = next((i for i, t in enumerate(kinds) if t != FLOAT32), None)
        if wrong is not None and wrong < len(node.args):
            text, name = ast.unparse(node.args[wrong]), ast.unparse(node.func)
            what = f"{_short(node)}: {name} of {' and '.join(map(str, kinds))} is computed in float64"
            self._add(node, what, f"{self.element}({text})" + ("" if is_float(kinds[wrong]) else " makes a float32 of the integer"))

    def _remedy(self, node: ast.AST, side: ast.expr, t: np.dtype) -> str:
        text = ast.unparse(side)
        if isinstance(node, ast.AugAssign) and side is node.target and isinstance(side, ast.Name):
            return f"give {text} its first value as float32: {text} = {self.element}(0)"
        if is_integer(t):
            return f"{self.element}({text})"
        if isinstance(side, ast.Name) and text in self.kernel.parameters:
            return f"pass a float32: {self.element}(...) where the kernel is launched"
        if isinstance(side, (ast.Constant, ast.UnaryOp)):
            return f"{self.element}({text})"
        return f"{self.element}({text}), or make {text} float32 where it gets its value"

    def _add(self, node: ast.AST, what: str, try_this: str) -> None:
        where = self.kernel.where(node)
        self.found.setdefault((where.line, where.text), Note(where.line, where.text, what, try_this))


def _short(node: ast.AST, most: int = 60) -> str:
    text = ast.unparse(node)
    return text if len(text) <= most else text[: most - 3] + "..."
